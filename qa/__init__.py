"""The oracle, the fuzzer and the campaigns: tests for hours. README.md says how to run them."""

import sys
from pathlib import Path

# So that `python -m qa.fuzz` finds tests/workflow.py and the others, as pytest does.
sys.path.append(str(Path(__file__).parents[1] / "tests"))
