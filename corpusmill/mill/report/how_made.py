"""What a run did to its texts and what it did not, in words for a dataset card."""

import json
from collections.abc import Iterator
from typing import Any

from corpusmill.messages.markdown import plain, table
from corpusmill.mill.report.account_tables import number, origins_table
from corpusmill.mill.report.corpus_facts import Facts

BLOCKLIST = "url_blocklist"
LISTS = ("domains", "urls", "words", "soft_words", "subwords")
"""Settings of a blocklist that name files."""
MOST_CELLS = 40
"""Maximum number of cells of a mixture in the card."""
LONGEST_SETTING = 300
NORMALIZED = {
    "nfc": "Texts are in Unicode NFC.",
    "ftfy": "Texts are in Unicode NFC; quotes, full-width letters and mojibake were repaired.",
    "none": "Texts were not normalized.",
}
COMPARED = {
    "verified": "documents whose shingle sets have a Jaccard similarity of at least {threshold}",
    "sketch": "documents that share a band key",
    "exact": "documents with equal texts",
}


def how_made(facts: Facts) -> Iterator[str]:
    config, summary = facts.configuration, facts.summary
    tokenizer = summary["tokenizer"]
    yield f"**Normalization.** {NORMALIZED[config['normalize']['mode']]}"
    yield from ("", f"**Repeated passages.** {repeated_passages(summary)}", "")
    yield from filters(facts)
    yield from ("", f"**Duplicates.** {duplicates(facts)}", "")
    yield from held_out(facts)
    for split, account in summary.get("mixture", {}).items():
        yield from mixture(split, account)
    end, vocabulary = plain(tokenizer["end_of_text"]), number(tokenizer["vocabulary"])
    yield (
        f"**Tokenizer.** {plain(tokenizer['source'])}, vocabulary {vocabulary}. Documents end with "
        f"{end}, id {tokenizer['end_of_text_id']}."
    )


def repeated_passages(summary: dict[str, Any]) -> str:
    spans = summary.get("spans")
    if not spans:
        return "None were cut."
    cut, size = number(spans["cut"]), number(spans["cut_bytes"])
    return f"Unit: {spans['unit']}. {cut} were cut, {size} bytes; the first occurrence stays."


def filters(facts: Facts) -> Iterator[str]:
    entries = facts.configuration["filters"]
    if not entries:
        yield "**Filters.** None."
        return
    yield from ("**Filters.** In this order:", "")
    rows = [[plain(one["name"]), settings(one), number(dropped_by(facts, one))] for one in entries]
    yield from table(["filter", "settings", "documents dropped"], rows, texts=2)
    for rule, cut in facts.summary.get("edits", {}).items():
        yield from ("", f"{plain(rule)} cut {number(cut['spans'])} pieces, "
                        f"{number(cut['bytes'])} bytes.")  # fmt: skip


def settings(entry: dict[str, Any]) -> str:
    """Return the settings of a filter as given; the others have their defaults."""
    given = {key: value for key, value in entry.items() if key != "name"}
    told = json.dumps(given, ensure_ascii=False)[1:-1]
    return plain(told if len(told) <= LONGEST_SETTING else f"{told[:LONGEST_SETTING]}…")


def dropped_by(facts: Facts, entry: dict[str, Any]) -> int:
    """Return the documents that a filter dropped; 0 for one that only measures."""
    return int(facts.summary["documents"]["dropped"].get(entry["name"], 0))


def duplicates(facts: Facts) -> str:
    dedup = facts.configuration["dedup"]
    compared = COMPARED[dedup["method"]].format(threshold=dedup["threshold"])
    stages = {name: found for name, found in facts.summary["duplicates"].items() if found}
    dropped = ", ".join(f"{plain(name)} {number(found)}" for name, found in stages.items())
    return (
        f"Duplicates are {compared}; resolve: {dedup['resolve']}. "
        f"Dropped, by how they were found: {dropped or 'none'}."
    )


def held_out(facts: Facts) -> Iterator[str]:
    shares = facts.configuration["splits"]
    kept = ", ".join(f"{name} {share:g}" for name, share in shares.items())
    yield (
        f"**Held-out texts.** Shares of the documents: {kept}. Documents to train on were removed "
        "if their text equals a held-out text."
    )
    if facts.held_out:
        yield from ("", "Texts of these evaluation sets were removed, too:", "")
        yield from origins_table(facts.held_out)
    yield ""


def mixture(split: str, account: dict[str, Any]) -> Iterator[str]:
    unit = account["unit"]
    budget = f" Budget: {number(account['budget'])} {unit}." if account["budget"] else ""
    yield from (f"**Mixture of {plain(split)}.** Copies were chosen by cell.{budget}", "")
    cells = sorted(account["cells"], key=lambda cell: -cell["reached"])
    rows = [
        [", ".join(plain(name) for name in cell["cell"]) or "all", number(cell["documents"]),
         number(cell["size"]), number(cell["reached"]), f"{cell['epochs']:g}"]
        for cell in cells[:MOST_CELLS]
    ]  # fmt: skip
    by = ", ".join(map(plain, account["by"])) or "cell"
    yield from table([by, "documents", unit, f"{unit} reached", "epochs"], rows)
    if len(cells) > MOST_CELLS:
        yield from ("", f"and {len(cells) - MOST_CELLS:,} more cells")
    yield ""


def blocklists(facts: Facts) -> list[dict[str, Any]]:
    return [one for one in facts.configuration["filters"] if kind_of(one) == BLOCKLIST]


def kind_of(entry: dict[str, Any]) -> str:
    return str(entry.get("use", entry["name"]))


def limits(facts: Facts) -> Iterator[str]:
    """Yield what was not done, and what is known to be lost."""
    used = {kind_of(one) for one in facts.configuration["filters"]}
    yield "No built-in step removes personal data."
    yield "Licences and origins are those stated in the configuration; they were not checked."
    if unstated := sum(one.licence is None for one in facts.origins.values()):
        yield f"Sources without a stated licence: {number(unstated)}."
    if BLOCKLIST not in used:
        yield "No list of opted-out domains or URLs was applied (filter url\\_blocklist)."
    if "bad_words" not in used:
        yield "No list of offensive words was applied (filter bad\\_words)."
    if not facts.summary.get("languages"):
        yield "Languages were not detected."
    if not facts.summary.get("spans"):
        yield "Passages that repeat in several documents were not cut."
    if not facts.held_out:
        yield "Texts of evaluation sets were not removed."
    else:
        yield "Evaluation sets were removed by equal texts only, not by similar passages."
    if lost := facts.summary["tokenization"]["lost_characters"]:
        yield f"The tokens lack {number(lost)} characters of the texts."
