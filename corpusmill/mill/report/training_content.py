"""The public summary of training content, after the template of the EU of 24.7.2025.

Sections, questions and tables are those of the template (Annex to C(2025) 5235), in its order.
`data_sources.py` has section 2. What corpusmill cannot know is marked TO_COMPLETE.
"""

from collections.abc import Iterator

from corpusmill.messages.markdown import plain, table
from corpusmill.mill.report.account_tables import languages_table, number
from corpusmill.mill.report.corpus_facts import Facts
from corpusmill.mill.report.data_sources import TO_COMPLETE, blank, data_sources
from corpusmill.mill.report.how_made import LISTS, blocklists, dropped_by, kind_of

TITLE = (
    "Template for the Public Summary of Training Content for General-Purpose AI models required "
    "by Article 53(1)(d) of Regulation (EU) 2024/1689 (AI Act)"
)
BILLION, TEN_TRILLION = 10**9, 10**13
NOT_IN_CORPUS = "none in this corpus"


def training_content(facts: Facts) -> str:
    """Return the summary. It depends only on the corpus, not on time or machine."""
    version = plain(facts.summary["versions"]["corpusmill"])
    lines = [
        f"# {TITLE}",
        "",
        f"Draft by corpusmill {version} about one corpus, whose manifest has the SHA-256 "
        f"{plain(facts.summary['manifest'])}. Figures are from `summary.json`. If a model was also "
        "trained on other data, add that data.",
        "",
        *blank("Version of the Summary:"),
        *blank("Last update (DD/MM/YY):"),
        *general_information(facts),
        *data_sources(facts),
        *data_processing(facts),
    ]
    return "\n".join(lines)


def size_category(tokens: int) -> str:
    """Return the category of the template."""
    if tokens < BILLION:
        return "Less than 1 billion tokens"
    if tokens <= TEN_TRILLION:
        return "1 billion to 10 trillion tokens"
    return "More than 10 trillion tokens"


def general_information(facts: Facts) -> Iterator[str]:
    tokens = facts.train_tokens(facts.summary)
    yield from ("## 1. General information", "", "### 1.1. Provider identification", "")
    yield from blank("Provider name and contact details:")
    yield from blank("Authorised representative name and contact details:")
    yield from ("### 1.2. Model identification", "")
    yield from blank("Versioned model name(s):")
    yield from blank("Model dependencies:")
    yield from blank("Date of placement of the model on the Union market:")
    yield from (
        "### 1.3. Modalities, overall training data size and other characteristics",
        "",
        *table(
            ["Modality", "Training data size", "Types of content"],
            [
                ["Text", f"{size_category(tokens)} ({number(tokens)})", TO_COMPLETE],
                *([one, NOT_IN_CORPUS, ""] for one in ("Image", "Audio", "Video", "Other")),
            ],
        ),
        "",
        "The number of tokens includes copies and one end-of-text token per document. It does not "
        "include texts held out for validation and test.",
        "",
    )
    yield from characteristics(facts)


def characteristics(facts: Facts) -> Iterator[str]:
    periods = [
        f"{plain(name)}: {plain(one.collected)}"
        for name, one in facts.origins.items()
        if one.collected
    ]
    yield from blank(
        "Latest date of data acquisition/collection for model training:",
        *([f"Periods of collection: {'; '.join(periods)}"] if periods else []),
    )
    yield from blank("Is the model continuously trained on new data after this date?")
    yield from ("**Description of the linguistic characteristics of the overall training data:**",
                "")  # fmt: skip
    yield from languages_table(facts.summary)
    yield from ("", TO_COMPLETE, "")
    yield from blank("Other relevant characteristics of the overall training data:")
    yield from blank("Additional comments (optional):")


def data_processing(facts: Facts) -> Iterator[str]:
    yield from (
        "## 3. Data processing aspects",
        "",
        "### 3.1. Respect of reservation of rights from text and data mining exception or "
        "limitation",
        "",
    )
    yield from blank(
        "Are you a Signatory to the Code of Practice for general-purpose AI models that includes "
        "commitments to respect reservations of rights from the TDM exception or limitation?"
    )
    yield from blank(
        "Describe the measures implemented before model training to respect reservations of "
        "rights from the TDM exception or limitation:",
        *applied_lists(facts),
    )
    yield from blank("Additional comments (optional):")
    yield from ("### 3.2. Removal of illegal content", "")
    yield from blank("General description of measures taken:", *removals(facts))
    yield from ("### 3.3. Other information (optional)", "")
    dropped = facts.summary["documents"]["dropped"]
    told = [f"{plain(fate)} {number(found)}" for fate, found in dropped.items() if found]
    yield from (
        "**Other relevant information about data processing (optional):** Of "
        f"{number(facts.summary['documents']['in'])} documents, "
        f"{number(facts.summary['documents']['kept'])} were kept. Dropped: "
        f"{', '.join(told) or 'none'}.",
        "",
    )


def applied_lists(facts: Facts) -> list[str]:
    """Return the lists of each filter of URLs, and the documents that it dropped."""
    lines = []
    for entry in blocklists(facts):
        given = ", ".join(f"{kind} {plain(entry[kind])}" for kind in LISTS if entry.get(kind))
        lines.append(
            f"The filter {plain(entry['name'])} dropped {number(dropped_by(facts, entry))} "
            f"documents whose URL is in a list: {given}. Whether a list has opt-outs: {TO_COMPLETE}"
        )
    return lines or ["This run applied no list of domains or URLs."]


def removals(facts: Facts) -> list[str]:
    entries = [one for one in facts.configuration["filters"] if kind_of(one) == "bad_words"]
    entries += blocklists(facts)
    return [
        f"The filter {plain(one['name'])} dropped {number(dropped_by(facts, one))} documents."
        for one in entries
    ] or ["This run applied no list of words, domains or URLs."]
