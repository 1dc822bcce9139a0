"""Make a finding smaller: less of everything, as long as the difference stays."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from qa.fuzz import configs, files
from qa.fuzz.corpora import generate
from qa.fuzz.runner import compared, expected, mill

MOST_RUNS = 80


@dataclass(frozen=True)
class Case:
    """A corpus in memory, every file by its path, and the configuration."""

    config: dict
    lines: dict[str, list[bytes]]
    tables: dict[str, pa.Table]
    others: dict[str, bytes]
    """Files that are no input, as those of a tokenizer."""

    def write(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        for path in [*self.lines, *self.tables, *self.others]:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
        for path, lines in self.lines.items():
            packed = files.pack(b"".join(lines), files.ending_of(Path(path)), 1)
            (folder / path).write_bytes(packed)
        for path, table in self.tables.items():
            pq.write_table(table, folder / path, version="2.6")
        for path, data in self.others.items():
            (folder / path).write_bytes(data)

    def records(self) -> list[tuple[str, int]]:
        sizes = {path: len(lines) for path, lines in self.lines.items()}
        sizes |= {path: table.num_rows for path, table in self.tables.items()}
        return [(path, row) for path in sizes for row in range(sizes[path])]

    def with_only(self, records: list[tuple[str, int]]) -> "Case":
        rows: dict[str, list[int]] = {path: [] for path in [*self.lines, *self.tables]}
        for path, row in records:
            rows[path].append(row)
        lines = {path: [old[row] for row in rows[path]] for path, old in self.lines.items()}
        tables = {path: old.take(rows[path]) for path, old in self.tables.items()}
        return replace(self, lines=lines, tables=tables)

    def with_sources(self, sources: list[dict]) -> "Case":
        used = {path for source in sources for path in source["files"]}
        return replace(
            self,
            config=self.config | {"sources": sources},
            lines={path: lines for path, lines in self.lines.items() if path in used},
            tables={path: table for path, table in self.tables.items() if path in used},
        )


def read_case(folder: Path, config: dict) -> Case:
    """The case of a folder, with the path of every file in place of patterns."""
    lines, tables, sources = {}, {}, []
    for source in config["sources"]:
        found = {
            path for pattern in source["files"] for path in folder.glob(pattern) if path.is_file()
        }
        names = sorted(path.relative_to(folder).as_posix() for path in found)
        sources.append(source | {"files": names})
        for name in names:
            if files.ending_of(Path(name)) == ".parquet":
                tables[name] = pq.read_table(folder / name)
            else:
                lines[name] = files.read_lines(folder / name)
    kept = (folder / "tokenizer").rglob("*")
    others = {path.relative_to(folder).as_posix(): path.read_bytes() for path in kept}
    return Case(config | {"sources": sources}, lines, tables, others)


Differs = Callable[[Case], bool]


def smaller(case: Case, differs: Differs) -> Case:
    """The least case that could be reached step by step, each of which still `differs`."""
    before = None
    while case is not before:
        before = case
        for candidates in (simpler_configs, fewer_sources, fewer_files):
            case = first_that_stay(case, candidates, differs)
        case = fewer_records(case, differs)
        case = first_that_stay(case, shorter_records, differs)
    return case


def first_that_stay(case: Case, candidates: Callable[[Case], Iterator[Case]], differs: Differs):
    """Take each candidate that still differs, and its candidates, until none does."""
    found = True
    while found:
        found = next((smaller for smaller in candidates(case) if differs(smaller)), None)
        case = found or case
    return case


def simpler_configs(case: Case) -> Iterator[Case]:
    """Keys back to their shipped values: all, by section, one by one; those of sources too."""
    config = case.config
    only_sources = {"sources": config["sources"]}
    yield from (replace(case, config=only_sources) for _ in range(len(config) > 1))
    for section in [name for name in config if name != "sources"]:
        rest = {name: value for name, value in config.items() if name != section}
        yield replace(case, config=rest)
        keys = config[section] if isinstance(config[section], dict) else {}
        for key in keys if len(keys) > 1 else []:
            inner = {name: value for name, value in config[section].items() if name != key}
            yield replace(case, config=config | {section: inner})
    for place, source in enumerate(config["sources"]):
        for key in set(source) - {"name", "files", "text_field"}:
            plain = {name: value for name, value in source.items() if name != key}
            sources = [*config["sources"][:place], plain, *config["sources"][place + 1 :]]
            yield replace(case, config=config | {"sources": sources})


def fewer_sources(case: Case) -> Iterator[Case]:
    sources = case.config["sources"]
    for place in range(len(sources)):
        rest = sources[:place] + sources[place + 1 :]
        if any(not source.get("held_out") for source in rest):
            yield case.with_sources(rest)


def fewer_files(case: Case) -> Iterator[Case]:
    for path in [*case.lines, *case.tables]:
        rest = [
            source | {"files": [name for name in source["files"] if name != path]}
            for source in case.config["sources"]
        ]
        if all(source["files"] for source in rest):
            yield case.with_sources(rest)


def fewer_records(case: Case, differs: Differs) -> Case:
    """Delta debugging: leave out halves, then quarters, and so on to single records."""
    size = max(1, len(case.records()) // 2)
    while True:
        start = 0
        while start < len(case.records()):
            records = case.records()
            candidate = case.with_only(records[:start] + records[start + size :])
            if differs(candidate):
                case = candidate
            else:
                start += size
        if size == 1:
            return case
        size //= 2


def shorter_records(case: Case) -> Iterator[Case]:
    """JSON records without one of their members, or with half of a text."""
    for path, row in case.records():
        if path not in case.lines:
            continue
        for line in shorter_lines(case.lines[path][row]):
            lines = [*case.lines[path]]
            lines[row] = line
            yield replace(case, lines=case.lines | {path: lines})


def shorter_lines(line: bytes) -> Iterator[bytes]:
    try:
        record = json.loads(line)
    except ValueError:
        return
    if not isinstance(record, dict):
        return
    for name, value in record.items():
        halves = (
            [value[: len(value) // 2], value[len(value) // 2 :]] if isinstance(value, str) else []
        )
        changed = [{k: v for k, v in record.items() if k != name}]
        changed += [record | {name: half} for half in halves if half != value]
        for less in changed:
            yield json.dumps(less, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def kind(difference: str) -> str:
    """What differs, without the numbers and names that change as the case gets smaller."""
    return re.sub(r"\d+|'[^']*'|\"[^\"]*\"|\{.*?\}", "_", difference)[:80]


def differences_of(case: Case, folder: Path) -> list[str]:
    case.write(folder)
    done = mill(folder, case.config)
    return compared(folder, done, expected(folder, case.config))


def minimise(seed: int, folder: Path, most_runs: int = MOST_RUNS) -> str:
    """The smallest case of a seed's finding within so many runs, left in `folder`; in words."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    case = read_case(folder, generate(seed, folder))
    wanted = {kind(line) for line in differences_of(case, folder)}
    runs = 0

    def differs(candidate: Case) -> bool:
        nonlocal runs
        runs += 1
        if runs > most_runs:
            return False
        return bool(wanted & {kind(line) for line in differences_of(candidate, folder)})

    case = smaller(case, differs)
    return described(case, differences_of(case, folder))


def described(case: Case, differences: list[str]) -> str:
    told = [
        *differences[:5],
        "",
        yaml.safe_dump(configs_that_differ(case.config), allow_unicode=True),
    ]
    for path, lines in case.lines.items():
        told += [f"{path}:", *(f"    {line!r}" for line in lines)]
    for path, table in case.tables.items():
        told += [f"{path}: {table.schema}", *(f"    {row!r}" for row in table.to_pylist())]
    return "\n".join(told)


def configs_that_differ(config: dict) -> dict:
    """The configuration without what is as shipped anyhow."""
    less = {}
    for section, values in config.items():
        shipped = configs.SHIPPED[section]
        if section == "sources":
            less[section] = values
        elif left := {key: value for key, value in values.items() if value != shipped.get(key)}:
            less[section] = left
    return less
