"""Numbered files of an earlier run that this one has no number for.

Whoever reads a whole folder, a trainer or a query, must find this run's files there and no others.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from corpusmill.fates import SPLITS

# Folders of results/ and logs/ whose files are numbered by something other than the part.
BY_BUCKET = {"pair", "pairs"}


def stale_files(
    root: Path, parts: set[str], buckets: set[str], shards: dict[str, int], text_ending: str
) -> Iterator[Path]:
    """Files of root/<step>/<number>.* and root/<step>/<split>/<number>.* without such a number.

    parts, buckets: the numbers there are, as in file names. shards: how many each split has.
    Files with other names are nobody's and stay.
    """
    for path in sorted(root.glob("*/*")) + sorted(root.glob("*/*/*")):
        if not path.is_file() or not re.fullmatch(r"\d{5}\..+", path.name):
            continue
        number, folder = path.name[:5], path.parent.name
        if folder in SPLITS:
            missing = int(number) >= shards.get(folder, 0)
            text = root / "corpus" == path.parent.parent and not path.name.endswith(".json")
            if missing or (text and path.name != f"{number}.{text_ending}"):
                yield path
        elif path.parent.parent == root and number not in (
            buckets if folder in BY_BUCKET else parts
        ):
            yield path
