"""Find presets by name: in presets/ of a checkout, or inside an installed package."""

import re
from pathlib import Path

from corpusmill.messages.near_names import meant
from corpusmill.run.workflow_files import workflow_home

END_OF_CLAIM = re.compile(r"[.:;](?=\s+[A-Za-z]|$)")


def preset_files() -> dict[str, Path]:
    """Return name -> file, sorted by name."""
    return {path.stem: path for path in sorted(preset_folder().glob("*.yaml"))}


def preset_folder() -> Path:
    return workflow_home() / "presets"


def preset_file(name: str) -> Path:
    """Return the file of a preset; raise ValueError with the nearest name if there is none."""
    files = preset_files()
    if name not in files:
        raise ValueError(f"there is no preset {name}.{meant(name, list(files))}")
    return files[name]


def what_it_is(file: Path) -> str:
    """Return the first claim of the comment at the top of a preset."""
    comment = []
    for line in file.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            break
        comment.append(line.removeprefix("#").strip())
    return END_OF_CLAIM.split(" ".join(comment), maxsplit=1)[0] + "."
