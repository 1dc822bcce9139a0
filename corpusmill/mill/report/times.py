"""Time and memory of every rule."""

from typing import NamedTuple

from corpusmill.mill.report import svg
from corpusmill.mill.report.pages import page, shortened

WIDTH = 900
NAMES, SECONDS, MEMORY = 150, 160, 650  # right end of names, left ends of bars
LONGEST_SECONDS, LONGEST_MEMORY = 150, 68  # bars
TOP, STEP, BAR = 40, 28, 9
NAME_CHARS = 16
WALL, CPU, PEAK = "#8fb3d1", svg.DARK, "#c9a66b"

STYLE = ".bound { fill: none; stroke: #999 }"


class Time(NamedTuple):
    """Cost of a rule: total seconds of all jobs, peak memory of the largest, and that job's limit,
    0 if unknown."""

    rule: str
    jobs: int
    wall_seconds: float
    cpu_seconds: float
    peak_memory_mb: int
    mem_mb: int = 0


def times(summary: dict) -> list[Time]:
    """Return the times in results/summary.json, longest first."""
    rules = [Time(name, **figures) for name, figures in summary["rules"].items()]
    return sorted(rules, key=lambda time: (-time.wall_seconds, time.rule))


def _legend() -> list[str]:
    entries = ((SECONDS, WALL, "seconds of all jobs"), (SECONDS + 190, CPU, "seconds of CPU"),
               (MEMORY, PEAK, "largest memory, its bound"))  # fmt: skip
    lines = []
    for x, colour, words in entries:
        lines.append(svg.rectangle(x, TOP - 34, 22, 12, f'fill="{colour}"'))
        lines.append(svg.text(x + 30, TOP - 24, words, "start", 'class="small"'))
    return lines


def _row(y: float, time: Time, second: float, megabyte: float) -> list[str]:
    """Draw the row of a rule. second, megabyte: length of a bar per unit."""
    wall, cpu = time.wall_seconds * second, time.cpu_seconds * second
    jobs = "1 job" if time.jobs == 1 else f"{time.jobs:,} jobs"
    told = f"{time.wall_seconds:,.1f} s, {time.cpu_seconds:,.1f} s CPU, {jobs}"
    memory = time.peak_memory_mb * megabyte
    bound = time.mem_mb * megabyte
    peak = f"{time.peak_memory_mb:,} MB" + (f" of {time.mem_mb:,}" if time.mem_mb else "")
    return [
        svg.text(NAMES, y + 14, shortened(time.rule, NAME_CHARS), "end"),
        svg.rectangle(SECONDS, y, wall, BAR, f'fill="{WALL}"'),
        svg.rectangle(SECONDS, y + BAR, cpu, BAR, f'fill="{CPU}"'),
        svg.text(SECONDS + max(wall, cpu) + 8, y + 14, told, "start", 'class="small"'),
        svg.rectangle(MEMORY, y, bound, 2 * BAR, 'class="bound"'),
        svg.rectangle(MEMORY, y, memory, 2 * BAR, f'fill="{PEAK}"'),
        svg.text(MEMORY + max(memory, bound) + 8, y + 14, peak, "start", 'class="small"'),
    ]


def picture(rows: list[Time]) -> str:
    seconds = max((max(row.wall_seconds, row.cpu_seconds) for row in rows), default=0)
    memory = max((max(row.peak_memory_mb, row.mem_mb) for row in rows), default=0)
    scales = LONGEST_SECONDS / (seconds or 1), LONGEST_MEMORY / (memory or 1)
    pieces = _legend()
    for place, row in enumerate(rows):
        pieces += _row(TOP + place * STEP, row, *scales)
    return svg.image(WIDTH, TOP + len(rows) * STEP + 12, pieces, STYLE)


def times_page(rows: list[Time]) -> str:
    return page("times.html", picture=picture(rows), heading=Time._fields, rows=rows)
