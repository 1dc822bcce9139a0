"""What many seeds came to: how much was compared, and what of the schema was reached."""

from collections import Counter

from qa.fuzz import configs

MOST_VALUES = 12


def account(results: list[dict]) -> str:
    """The figures of the results file, for the terminal."""
    found = [result for result in results if result["differences"]]
    sums: Counter = Counter()
    for result in results:
        sums.update(result["counts"])
    refused = Counter(result["refused_by"] for result in results if result["refused"])
    lines = [
        f"runs {len(results)}, " + ", ".join(f"{name} {sums[name]:,}" for name in sums),
        f"refused as they have to be: {sum(refused.values())}, by {dict(refused)}",
        f"seconds per seed {mean(results, 'seconds')}, of the mill {mean(results, 'mill_seconds')}",
        *reached_lines([result for result in results if result["reached"]]),
        *made_lines(results),
        f"discrepancies: {len(found)} of {len(results)} runs",
        *(f"seed {result['seed']}: {result['differences'][0]}" for result in found),
    ]
    return "\n".join(lines)


def mean(results: list[dict], name: str) -> float:
    return round(sum(result[name] for result in results) / max(1, len(results)), 1)


def reached_lines(results: list[dict]) -> list[str]:
    """Every key of the schema with the values that runs had, most frequent first."""
    if not results:
        return []
    by_key: dict[str, Counter] = {}
    for result in results:
        for key, value in result["reached"].items():
            values = value if isinstance(value, list) else [value]
            by_key.setdefault(key, Counter()).update(map(str, values))
    lines = []
    for key, values in by_key.items():
        few = ", ".join(f"{value} {count}" for value, count in values.most_common(MOST_VALUES))
        lines.append(f"{key}: {few}" + (" ..." if len(values) > MOST_VALUES else ""))
    return [*lines, *(f"never reached: {missing}" for missing in never_reached(by_key))]


def never_reached(by_key: dict[str, Counter]) -> list[str]:
    """Values that the schema lists and no run had."""
    missing = []
    for section, definition in configs.SCHEMA.items():
        for key, inner in definition.get("properties", {}).items():
            reached = by_key.get(f"{section}.{key}", Counter())
            listed = [*inner.get("enum", [])]
            listed += [True, False] if inner.get("type") == "boolean" else []
            missing += [f"{section}.{key} = {value}" for value in listed if not reached[str(value)]]
    return missing


def made_lines(results: list[dict]) -> list[str]:
    """Kinds of texts, records, files and columns: in how many runs, how many."""
    runs: Counter = Counter()
    many: Counter = Counter()
    for result in results:
        many.update(result["made"])
        runs.update(kind for kind, count in result["made"].items() if count)
    return [f"{kind}: {many[kind]:,} in {runs[kind]} runs" for kind in sorted(many)]
