"""What the wheel needs: the packages of requirements.txt that are ours to choose, as pinned."""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Requirements(MetadataHookInterface):
    def update(self, metadata: dict) -> None:
        written = Path(self.root, "envs/requirements.txt").read_text("utf-8")
        chosen, _ = written.split("# What they need.")
        metadata["dependencies"] = re.findall(r"^([^#\s]+)", chosen, re.MULTILINE)
