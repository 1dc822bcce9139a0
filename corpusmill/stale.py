"""Numbered files of an earlier run that this one has no number for.

Whoever reads a whole folder, a trainer or a query, must find this run's files there and no others.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from corpusmill.fates import SPLITS


def stale_files(
    root: Path,
    parts: list[str],
    others: dict[str, list[str]],
    shards: dict[str, int],
    text_ending: str,
) -> Iterator[Path]:
    """Files of root/<step>/<number>.* and root/<step>/<split>/<number>.* without such a number.

    parts: the numbers there are, as in file names. others: the same for each folder whose files
    are numbered by something else; a folder of none has no complete.* either. shards: how many
    each split has. Files with other names are nobody's and stay.
    """
    for path in sorted(root.glob("*/*")) + sorted(root.glob("*/*/*")):
        if not path.is_file() or not re.fullmatch(r"(\d{5}|complete)\..+", path.name):
            continue
        number, folder = path.name.split(".")[0], path.parent.name
        if number == "complete":
            if path.parent.parent == root and not others.get(folder, parts):
                yield path
            continue
        if folder in SPLITS:
            missing = int(number) >= shards.get(folder, 0)
            text = root / "corpus" == path.parent.parent and not path.name.endswith(".json")
            if missing or (text and path.name != f"{number}.{text_ending}"):
                yield path
        elif path.parent.parent == root and number not in others.get(folder, parts):
            yield path
