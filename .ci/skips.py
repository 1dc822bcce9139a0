"""Print every test that a part of CI skipped; fail if one ran in no part and is not excused.

python .ci/skips.py EXCUSES REPORT...   reports: what pytest's --junitxml has written, one per part
"""

import fnmatch
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def outcomes(report: Path) -> dict[str, str | None]:
    """Return test -> the reason why it was skipped; None if it ran."""
    found: dict[str, str | None] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        skipped, name = case.find("skipped"), str(case.get("name"))
        if place := case.get("classname"):
            test = f"{place.replace('.', '/')}.py::{name}"
            found[test] = None if skipped is None else str(skipped.get("message"))
        else:  # a skipped file; only the text has its reason
            said = "" if skipped is None else str(skipped.text)
            found[f"{name.replace('.', '/')}.py"] = said.partition("Skipped: ")[2].strip("'\")")
    return found


def excuses(listing: str) -> dict[str, str]:
    """Return pattern of tests -> why they may be skipped everywhere."""
    found = {}
    for line in filter(None, (line.strip() for line in listing.splitlines())):
        pattern, _, reason = line.partition("  # ")
        if not reason.strip():
            raise ValueError(f"{line}: expected a test, two blanks, # and the reason")
        found[pattern.strip()] = reason.strip()
    return found


def account(parts: dict[str, dict[str, str | None]], excused: dict[str, str]) -> tuple[list, list]:
    """Return a line for every skipped test, and the names of those without an excuse."""
    lines, faults = [], []
    for part, tests in parts.items():
        for test, why in tests.items():
            if why is None:
                continue
            ran = [other for other in parts if has_run(test, parts[other])]
            excuse = next((e for p, e in excused.items() if matches(test, p)), None)
            if not ran and excuse is None:
                faults.append(test)
            told = f"ran in {ran[0]}" if ran else f"excused: {excuse}" if excuse else "NOT EXCUSED"
            lines.append(f"{test}: skipped in {part} ({why}); {told}")
    return lines, list(dict.fromkeys(faults))


def has_run(test: str, outcome: dict[str, str | None]) -> bool:
    """Say whether a test, or a test of a file, ran in a part."""
    return any(
        why is None and (name == test or name.startswith(f"{test}::"))
        for name, why in outcome.items()
    )


def matches(test: str, pattern: str) -> bool:
    """Say whether a test matches a pattern, in which only * is special."""
    return fnmatch.fnmatchcase(test, pattern.replace("[", "[[]"))


def main(listing: str, *reports: str) -> None:
    parts = {Path(report).stem: outcomes(Path(report)) for report in reports}
    for part, tests in parts.items():
        if not any(why is None for why in tests.values()):
            sys.exit(f"no test ran in {part}")
    lines, faults = account(parts, excuses(Path(listing).read_text("utf-8")))
    print("\n".join(lines) or "no test was skipped")
    if faults:
        sys.exit(f"skipped, ran in no part, and not in {listing}: {len(faults)} tests")


if __name__ == "__main__":
    main(*sys.argv[1:])
