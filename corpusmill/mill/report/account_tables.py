"""Tables in Markdown about the account of a run."""

from typing import Any

from corpusmill.messages.markdown import link, plain, table
from corpusmill.mill.report.corpus_facts import Facts, Origin

NOTHING = "not stated"


def number(value: int) -> str:
    return f"{value:,}"


def funnel_table(summary: dict[str, Any]) -> list[str]:
    """Return the documents of each source: read, dropped by each fate, and kept."""
    sources = {**summary["sources"], "all sources": summary}
    fates = [fate for fate, found in summary["documents"]["dropped"].items() if found]
    rows = []
    for name, of in sources.items():
        documents = of["documents"]
        dropped = [documents["dropped"].get(fate, 0) for fate in fates]
        numbers = [documents["in"], *dropped, documents["kept"], sum(of["tokens"].values())]
        rows.append([plain(name), *map(number, numbers)])
    return table(["source", "documents in", *map(plain, fates), "kept", "tokens"], rows)


def sources_table(facts: Facts) -> list[str]:
    """Return documents, bytes and tokens per split of each source, and of all."""
    splits = list(facts.summary["tokens"])
    rows = []
    for name, of in [*facts.summary["sources"].items(), ("all sources", facts.summary)]:
        documents, sizes = of["documents"], of["bytes"]
        numbers = [documents["in"], documents["kept"], documents["written"], sizes["in"],
                   sizes["kept"], *(of["tokens"][split] for split in splits)]  # fmt: skip
        rows.append([plain(name), *map(number, numbers)])
    heading = ["source", "documents in", "kept", "written", "bytes in", "bytes kept"]
    return table([*heading, *(f"tokens, {plain(split)}" for split in splits)], rows)


def origins_table(origins: dict[str, Origin]) -> list[str]:
    rows = [
        [plain(name), *map(plain_or_not_stated, (one.origin, one.licence, one.collected)),
         link(one.homepage) if one.homepage else NOTHING]
        for name, one in origins.items()
    ]  # fmt: skip
    heading = ["source", "origin", "licence", "collected", "address"]
    return table(heading, rows, texts=len(heading))


def plain_or_not_stated(value: str | None) -> str:
    return NOTHING if value is None else plain(value)


def languages_table(summary: dict[str, Any]) -> list[str]:
    """Return the documents and bytes of each language, or that no filter detects languages."""
    languages = summary.get("languages")
    if not languages:
        return ["No filter of this run detects languages."]
    figures = ("read", "read_bytes", "kept", "kept_bytes")
    rows = [[plain(name), *(number(of[one]) for one in figures)] for name, of in languages.items()]
    return table(["language", "documents read", "bytes read", "documents kept", "bytes kept"], rows)


def splits_table(facts: Facts) -> list[str]:
    rows = [[plain(one.name), *map(number, one[1:])] for one in facts.splits]
    return table(["split", "shards", "documents", "tokens"], rows)
