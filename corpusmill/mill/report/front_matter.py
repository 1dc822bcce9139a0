"""The metadata at the head of a dataset card, in the format of the Hugging Face hub."""

import re
from collections.abc import Iterator

from corpusmill.messages.markdown import quoted
from corpusmill.mill.report.corpus_facts import Facts

_LICENCES = """
    apache-2.0 mit openrail bigscience-openrail-m creativeml-openrail-m bigscience-bloom-rail-1.0
    bigcode-openrail-m afl-3.0 artistic-2.0 bsl-1.0 bsd bsd-2-clause bsd-3-clause
    bsd-3-clause-clear c-uda cc cc0-1.0 cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-sa-3.0
    cc-by-sa-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nd-4.0 cc-by-nc-nd-3.0
    cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cdla-sharing-1.0
    cdla-permissive-1.0 cdla-permissive-2.0 wtfpl ecl-2.0 epl-1.0 epl-2.0 etalab-2.0 eupl-1.1
    eupl-1.2 agpl-3.0 gfdl gpl gpl-2.0 gpl-3.0 lgpl lgpl-2.1 lgpl-3.0 isc h-research
    intel-research lppl-1.3c ms-pl apple-ascl apple-amlr mpl-2.0 odc-by odbl openmdw-1.0
    openrail++ osl-3.0 postgresql ofl-1.1 ncsa unlicense zlib pddl lgpl-lr deepfloyd-if-license
    fair-noncommercial-research-license llama2 llama3 llama3.1 llama3.2 llama3.3 llama4
    grok2-community gemma unknown other
"""
HUB_LICENCES = frozenset(_LICENCES.split())
"""Identifiers that the hub knows. It refuses a card with another one."""

LANGUAGE = re.compile(r"([a-z]{2,3})(_[A-Z][a-z]{3})?")
NO_LANGUAGE = {"und", "zxx", "mul"}
SIZES = ("1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T")
MOST_NAMED = 3
"""Maximum number of sources in the name of the corpus."""


def front_matter(facts: Facts) -> list[str]:
    return [
        "---",
        *listed("language", language_codes(facts.summary)),
        *licence_lines(facts),
        f"pretty_name: {quoted(name_of(facts))}",
        *listed("size_categories", [size_category(facts.summary["documents"]["written"])]),
        *listed("task_categories", ["text-generation"]),
        *data_files(facts.text_files),
        "---",
    ]


def listed(key: str, values: list[str]) -> list[str]:
    return [f"{key}:", *(f"- {quoted(value)}" for value in values)] if values else []


def name_of(facts: Facts) -> str:
    names = list(facts.origins)
    more = f" and {len(names) - MOST_NAMED} more" * (len(names) > MOST_NAMED)
    return ", ".join(names[:MOST_NAMED]) + more or "empty corpus"


def language_codes(summary: dict) -> list[str]:
    """Return the ISO 639 codes of the languages of kept documents, most frequent first."""
    found = [
        code[1]
        for name, figures in summary.get("languages", {}).items()
        if figures["kept"] and (code := LANGUAGE.fullmatch(name))
    ]
    return [code for code in dict.fromkeys(found) if code not in NO_LANGUAGE]


def licence_lines(facts: Facts) -> list[str]:
    ids = list(dict.fromkeys(hub_licence(one.licence) for one in facts.origins.values()))
    lines = [f"license: {quoted(ids[0])}"] if len(ids) == 1 else listed("license", ids)
    if "other" in ids:
        lines.append('license_name: "see-the-sources-below"')
    return lines


def hub_licence(licence: str | None) -> str:
    """Return the hub's identifier of a licence: `unknown` if none is stated, `other` if the hub
    does not have it."""
    if licence is None:
        return "unknown"
    name = "-".join(licence.lower().split())
    return name if name in HUB_LICENCES else "other"


def size_category(documents: int) -> str:
    lower = ""
    for place, size in enumerate(SIZES):
        if documents < 1000 * 10**place:
            return f"{lower}n<{size}"
        lower = f"{size}<"
    return f"n>{SIZES[-1]}"


def data_files(text_files: list[tuple[str, str]]) -> Iterator[str]:
    """Yield the tables of text, by split and ending. Without them the hub would take all files for
    one table."""
    if not text_files:
        yield "viewer: false"
        return
    yield from ("configs:", "- config_name: text", "  data_files:")
    for split, ending in text_files:
        # The hub allows only word characters in the names of splits.
        yield f"  - split: {quoted(re.sub(r'[^A-Za-z0-9_]', '_', split))}"
        yield f"    path: {quoted(f'corpus/{split}/*.{ending}')}"
