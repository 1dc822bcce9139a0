"""One seed: its corpus is milled and everything that came out is compared with the oracle."""

import json
import re
import shutil
import subprocess
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import yaml
from workflow import snakemake

from qa import oracle
from qa.fuzz import configs
from qa.fuzz.corpora import generate

ONE_LINE_FAULTS = ("ValueError", "OSError", "FileNotFoundError")
"""What a step may fail with: wrong input, told in one line."""


@dataclass
class Result:
    """What came of a seed; a line of the results file."""

    seed: int
    seconds: float = 0.0
    mill_seconds: float = 0.0
    refused: str | None = None
    """Why the oracle wants the run refused."""
    refused_by: str | None = None
    """The rule, or `config`, that refused it."""
    differences: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    reached: dict = field(default_factory=dict)
    made: dict[str, int] = field(default_factory=dict)

    def line(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False) + "\n"


def mill(folder: Path, config: dict, *arguments: str, cores: int = 1, warm: bool = True):
    """A run of `config` in `folder`, whatever comes of it."""
    write_config(folder, config)
    asked = ("--configfile", "mine.yaml", "--cores", str(cores), *arguments)
    return snakemake(folder, *asked, warm=warm)


def write_config(folder: Path, config: dict) -> None:
    text = yaml.safe_dump(config, allow_unicode=True, sort_keys=False)
    (folder / "mine.yaml").write_text(text, "utf-8")


def tokenizer_folder(folder: Path, config: dict) -> Path:
    source = config["tokenizer"]["source"]
    return folder / ("results/tokenizer" if source == "train" else source)


def expected(folder: Path, config: dict, **earlier) -> oracle.Outcome:
    complete = configs.whole(config)
    return oracle.expected(folder, complete, tokenizer_folder(folder, complete), **earlier)


def compared(folder: Path, done: subprocess.CompletedProcess, outcome: oracle.Outcome) -> list[str]:
    """A line per difference between a run that ended and what has to come of it."""
    told = done.stdout + done.stderr
    if done.returncode == 0 and not outcome.refused:
        return oracle.differences(folder, outcome)
    if done.returncode == 0:
        return [f"the run ended well, but has to be refused: {outcome.refused}"]
    faults = unexplained(folder, told)
    if not outcome.refused:
        return [f"the run failed ({refused_by(told)}): {last_words(told)}", *faults]
    return [*faults, *oracle.differences(folder, outcome)]


def refused_by(told: str) -> str:
    rule = re.search(r"^Error in rule (\w+)", told, re.M)
    return rule.group(1) if rule else "config"


def last_words(told: str) -> str:
    """The line that says why a run failed."""
    errors = re.findall(r"^(?:\d\d:\d\d:\d\d )?error: .*|^\w+ in file .*\n.*", told, re.M)
    lines = errors or [line for line in told.splitlines() if line.strip()] or ["nothing was said"]
    return (lines[0] if errors else lines[-1])[:300]


def unexplained(folder: Path, told: str) -> list[str]:
    """Tracebacks where one line is promised."""
    found = []
    failed = [
        log for log in (folder / "logs").rglob("*.log") if "Traceback" in log.read_text("utf-8")
    ]
    for log in failed:
        names = re.findall(r"^(?:\w+\.)*(\w+(?:Error|Exception))\b", log.read_text("utf-8"), re.M)
        if not names or names[-1] not in ONE_LINE_FAULTS:
            found.append(f"{log.relative_to(folder)}: a traceback of {names[-1:]}")
    # A step that fails is a CalledProcessError of its rule.
    of_rules = re.search(r"^(?!CalledProcess)\w+(?:Error|Exception) in file .*\n.*", told, re.M)
    if of_rules or ("Traceback" in told and not failed):
        found.append(f"a traceback of Snakemake, no step: {last_words(told)}")
    return found


def run_seed(seed: int, folder: Path) -> Result:
    """Make, mill and judge the corpus of a seed in `folder`, which must not be there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    config = generate(seed, folder)
    result = Result(seed, reached=configs.reached(configs.whole(config)))
    result.made = json.loads((folder / "made.json").read_text("utf-8"))
    began = time.monotonic()
    done = mill(folder, config)
    result.mill_seconds = round(time.monotonic() - began, 1)
    (folder / "terminal.txt").write_text(done.stdout + done.stderr, "utf-8")
    if done.returncode:
        result.refused_by = refused_by(done.stdout + done.stderr)
    outcome = expected(folder, config)
    result.refused = outcome.refused
    result.differences = compared(folder, done, outcome)
    result.counts = oracle.counts(outcome)
    return result
