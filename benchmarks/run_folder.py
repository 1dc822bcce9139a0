"""A folder of results: README.md (machine and versions), raw.jsonl (all measurements),
summary.md."""

import datetime
import importlib.metadata
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measuring import ROOT, shown

PACKAGES = ["snakemake", "numpy", "numba", "pyarrow", "zstandard", "msgspec", "datasketch",
            "transformers", "tokenizers", "gigatoken"]  # fmt: skip
COLUMNS = ["what ran", "rate, median (min - max)", "seconds", "peak memory MB", "ratio",
           "outputs equal", "counts"]  # fmt: skip


def cpu_name() -> str:
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return found[1].strip() if found else platform.machine()


def git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def disk_write_mb_per_second(folder: Path) -> float:
    """Measure writing and syncing 256 MB in the folder."""
    block = os.urandom(1 << 24)
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        started = time.perf_counter()
        for _ in range(16):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
        return 16 * len(block) / 1e6 / (time.perf_counter() - started)


def machine() -> str:
    """Describe the machine, such as `amd-epyc-2-cores`, without its host name."""
    cores = len(os.sched_getaffinity(0))
    return re.sub(r"[^a-z0-9]+", "-", f"{cpu_name()} {cores} cores".lower()).strip("-")


def facts(folder: Path) -> dict[str, str]:
    memory = re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())
    changed = git("status", "--porcelain", "--", ".", ":!benchmarks/runs")
    return {
        "commit": f"{git('rev-parse', 'HEAD') or 'unknown'}, {'dirty' if changed else 'clean'}",
        "CPU": f"{cpu_name()}, {len(os.sched_getaffinity(0))} cores",
        "RAM": f"{int(memory[1]) / 1e6:.0f} GB" if memory else "unknown",
        "disk": f"{disk_write_mb_per_second(folder):.0f} MB/s, 256 MB written and synced",
        "load before": f"{os.getloadavg()[0]:.2f}",
        "system": f"Linux {platform.release()}, Python {platform.python_version()}",
        "versions": ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES),
    }


class RunFolder:
    """The folder in which benchmarks store their measurements."""

    def __init__(self, path: Path | None) -> None:
        today = datetime.date.today().isoformat()
        self.path = path or ROOT / f"benchmarks/runs/{today}-{machine()}"
        self.path.mkdir(parents=True, exist_ok=True)
        self.raw = self.path / "raw.jsonl"
        self._write({"kind": "start", "command": shown([sys.executable, *sys.argv])}
                    | facts(self.path))  # fmt: skip

    def _write(self, row: dict) -> None:
        with open(self.raw, "a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def record(self, table: str, what: str, *, group: str, amount: float, unit: str, **row) -> None:
        """Record a measurement. The first `what` of a group is the base of comparison.

        amount, unit: the work, in bytes (unit MB) or pieces (unit "pairs", ...). row: seconds,
        peak_memory_mb, output (a digest), counts, note.
        """
        self._write({"kind": "measurement", "table": table, "what": what, "group": group,
                     "amount": amount, "unit": unit} | row)  # fmt: skip
        print(f"{table}: {what}: {row['seconds']:.2f} s", file=sys.stderr)

    def note(self, table: str, text: str) -> None:
        """Add a sentence or a table below the table."""
        self._write({"kind": "note", "table": table, "text": text})

    def close(self) -> None:
        """Write README.md and summary.md from raw.jsonl."""
        rows = [json.loads(line) for line in self.raw.read_text("utf-8").splitlines()]
        (self.path / "README.md").write_text(readme(rows), "utf-8")
        (self.path / "summary.md").write_text(summary(rows), "utf-8")
        print(self.path / "summary.md")


def rate(row: dict) -> float:
    """Return millions per second: MB/s for bytes, or of the counted unit."""
    return row["amount"] / row["seconds"] / 1e6


def readme(rows: list[dict]) -> str:
    lines = ["# What ran, and where", ""]
    for row in (row for row in rows if row["kind"] == "start"):
        lines += [f"    {row['command']}", ""]
        lines += [f"- {name}: {value}" for name, value in row.items()
                  if name not in ("kind", "command")] + [""]  # fmt: skip
    lines += ["`raw.jsonl` has every single measurement, `summary.md` the medians.", ""]
    return "\n".join(lines)


def spread(values: list[float], digits: int = 1) -> str:
    middle = f"{statistics.median(values):,.{digits}f}"
    if len(values) == 1:
        return middle
    return f"{middle} ({min(values):,.{digits}f} - {max(values):,.{digits}f})"


def equality(rows: list[dict], base: list[dict]) -> str:
    """Say whether all runs gave the same as those of the base: yes, no, or why they cannot."""
    if any("not_equal" in row for row in rows):
        return f"not the same work: {rows[0]['not_equal']}"
    outputs = {json.dumps(row.get("output")) for row in [*rows, *base]}
    if "null" in outputs:
        return "-"
    return "yes" if len(outputs) == 1 else "no"


def table_line(rows: list[dict], base: list[dict]) -> str:
    first = rows[0]
    own = statistics.median(map(rate, rows))
    rates, unit = [rate(row) for row in rows], "MB/s"
    if first["unit"] != "MB":
        small = own < 0.1
        rates = [1e6 * found if small else found for found in rates]
        unit = f"{'' if small else 'M '}{first['unit']}/s"
    seconds = [row["seconds"] for row in rows]
    memory = [row["peak_memory_mb"] for row in rows if row.get("peak_memory_mb")]
    ratio = statistics.median(map(rate, base)) / own
    digits = 1 if statistics.median(rates) >= 1 else 3
    cells = [
        first["what"],
        f"{spread(rates, digits)} {unit}",
        spread(seconds, 2),
        f"{max(memory):,.0f}" if memory else "-",
        "1" if rows is base else f"{ratio:.2f}",
        equality(rows, base),
        ", ".join(f"{value:,} {name}" for name, value in first.get("counts", {}).items()) or "-",
    ]
    return f"| {' | '.join(cells)} |"


def summary(rows: list[dict]) -> str:
    """Return the tables, one line per contestant, in the order of the first runs."""
    lines = [
        "# Summary",
        "",
        "Medians with least and greatest of all runs; memory is the greatest. Ratio: the rate of",
        "the first line of the group over this line's rate; below 1 this line is the faster one.",
        "Outputs equal: over all runs, and with the first line of the group.",
        "",
    ]
    tables = dict.fromkeys(row["table"] for row in rows if "table" in row)
    for table in tables:
        lines += [f"## {table}", ""]
        measured = [row for row in rows if row["kind"] == "measurement" and row["table"] == table]
        if measured:
            lines += [f"| {' | '.join(COLUMNS)} |", "|---|--:|--:|--:|--:|---|---|"]
        for group in dict.fromkeys(row["group"] for row in measured):
            by_what: dict[str, list[dict]] = {}
            for row in measured:
                if row["group"] == group:
                    by_what.setdefault(row["what"], []).append(row)
            base = next(iter(by_what.values()))
            lines += [table_line(found, base) for found in by_what.values()]
        notes = dict.fromkeys(
            row["text"] for row in rows if row["kind"] == "note" and row["table"] == table
        )
        lines += ["", *(f"{text}\n" for text in notes)]
    return "\n".join(lines).rstrip("\n") + "\n"
