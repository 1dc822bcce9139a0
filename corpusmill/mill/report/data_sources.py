"""Section 2 of the public summary of training content: the sources by their origin."""

import math
from collections.abc import Iterator

from corpusmill.messages.markdown import link, plain, table
from corpusmill.mill.report.account_tables import NOTHING, number, plain_or_not_stated
from corpusmill.mill.report.corpus_facts import Facts
from corpusmill.mill.report.domains import MOST_LISTED, Domains

TO_COMPLETE = "*to be completed by the provider*"
MOST_SHOWN, SHOWN_SHARE = 1000, 0.05
"""The domains that small and medium providers list: the top 5 %, at most 1,000."""

Lines = Iterator[str]


def blank(question: str, *known: str) -> Lines:
    """Yield a question that the provider answers, and what is known already."""
    yield from (f"**{question}** {TO_COMPLETE}", "")
    if known:
        yield from (*(f"- {line}" for line in known), "")


def data_sources(facts: Facts) -> Lines:
    yield from ("## 2. List of data sources", "")
    yield from public(facts)
    yield from licensed_and_private(facts)
    yield from crawled(facts)
    yield from user_data(facts)
    yield from synthetic(facts)
    yield from others(facts)


def answered(question: str, facts: Facts, origin: str) -> Lines:
    """Yield a question about an origin with its answer. It is open while sources have no origin."""
    unknown = TO_COMPLETE if facts.sources_of(None) else "No"
    yield from (f"**{question}** {'Yes' if facts.sources_of(origin) else unknown}", "")


def modality(question: str, facts: Facts, origin: str) -> Lines:
    unknown = TO_COMPLETE if facts.sources_of(None) else "none"
    yield from (f"**{question}** {'Text' if facts.sources_of(origin) else unknown}", "")


def sources(facts: Facts, origin: str | None) -> Lines:
    """Yield a table of the sources of an origin; nothing if there are none."""
    rows = []
    for name in facts.sources_of(origin):
        stated, figures = facts.origins[name], facts.summary["sources"][name]
        rows.append(
            [plain(name), link(stated.homepage) if stated.homepage else NOTHING,
             plain_or_not_stated(stated.licence), plain_or_not_stated(stated.collected),
             number(figures["documents"]["kept"]), number(figures["bytes"]["kept"]),
             number(facts.train_tokens(figures))]
        )  # fmt: skip
    heading = ["source", "address", "licence", "collected", "documents", "bytes", "tokens"]
    if rows:
        yield from (*table(heading, rows, texts=4), "")


def public(facts: Facts) -> Lines:
    yield from ("### 2.1. Publicly available datasets", "")
    yield from answered("Have you used publicly available datasets to train the model?", facts,
                        "public")  # fmt: skip
    yield from modality(
        "If yes, specify the modality(ies) of the content covered by the datasets concerned:",
        facts, "public",
    )  # fmt: skip
    yield from ("**List of large publicly available datasets:**", "")
    yield from sources(facts, "public")
    yield from blank("General description of other publicly available datasets not listed above:")
    yield from blank("Additional comments (optional):")


def licensed_and_private(facts: Facts) -> Lines:
    yield from (
        "### 2.2. Private non-publicly available datasets obtained from third parties",
        "",
        "#### 2.2.1. Datasets commercially licensed by rightsholders or their representatives",
        "",
    )
    yield from answered(
        "Have you concluded transactional commercial licensing agreement(s) with rightsholder(s) "
        "or with their representatives?", facts, "licensed",
    )  # fmt: skip
    yield from modality("If yes, specify the modality(ies):", facts, "licensed")
    yield from sources(facts, "licensed")
    yield from ("#### 2.2.2. Private datasets obtained from other third parties", "")
    yield from answered(
        "Have you obtained private datasets from third parties that are not licensed as described "
        "in Section 2.2.1, such as data obtained from providers of private databases, or data "
        "intermediaries?", facts, "third_party",
    )  # fmt: skip
    yield from modality("If yes, specify the modality(ies):", facts, "third_party")
    yield from blank("List of publicly known private datasets obtained from third parties:")
    yield from blank(
        "General description of non-publicly known private datasets obtained from third parties:"
    )
    yield from sources(facts, "third_party")
    yield from blank("Additional comments (optional):")


def crawled(facts: Facts) -> Lines:
    yield from ("### 2.3. Data crawled and scraped from online sources", "")
    yield from answered(
        "Were crawlers used by the provider or on behalf of the provider?", facts, "crawled"
    )
    yield from blank("Crawler name(s)/identifier(s):")
    yield from blank("Purposes of the crawler(s):")
    yield from blank("General description of crawler behaviour:")
    period = "as in the table below" if facts.sources_of("crawled") else TO_COMPLETE
    yield from (f"**Period of data collection:** {period}", "")
    yield from sources(facts, "crawled")
    yield from blank("Comprehensive description of the type of content and online sources crawled:")
    yield from modality("Type of modality covered:", facts, "crawled")
    yield from ("**Summary of the most relevant domain names crawled:**", "")
    if facts.domains is None:
        yield from ("No source of this corpus is stated to be crawled.", "")
    else:
        yield from domain_list(facts.domains)
    yield from blank("Additional comments (optional):")


def domain_list(domains: Domains) -> Lines:
    shown = domains.largest.slice(0, min(math.ceil(domains.number * SHOWN_SHARE), MOST_SHOWN))
    listed = domains.largest.num_rows
    full = f", the maximum of {number(MOST_LISTED)}" if listed == MOST_LISTED else ""
    yield from (
        "A domain is the host of a document's URL without a leading `www.`. Documents that were "
        f"kept count once, with the bytes of their text; the counts are exact. "
        f"{number(domains.documents)} documents ({number(domains.text_bytes)} bytes) of crawled "
        f"sources are from {number(domains.number)} domains; {number(domains.without)} of these "
        "documents have no valid URL. "
        f"`domains.csv` lists the top 10 % by bytes: {number(listed)} domains{full}. Below are the "
        f"top 5 %, at most 1,000: {number(shown.num_rows)}.",
        "",
    )
    rows = [
        [plain(row["domain"]), number(row["documents"]), number(row["text_bytes"])]
        for row in shown.to_pylist()
    ]
    yield from (*table(["domain", "documents", "bytes"], rows), "")


def user_data(facts: Facts) -> Lines:
    yield from ("### 2.4. User data", "")
    yield from answered(
        "Was data from user interactions with the AI model (e.g. user input and prompts) used to "
        "train the model?", facts, "user",
    )  # fmt: skip
    yield from answered(
        "Was data collected from user interactions with the provider's other services or products "
        "used to train the model?", facts, "user",
    )  # fmt: skip
    yield from sources(facts, "user")
    yield from blank("Description of the services or products:")
    yield from modality("Type of modality covered:", facts, "user")
    yield from blank("Additional comments (optional):")


def synthetic(facts: Facts) -> Lines:
    yield from ("### 2.5. Synthetic data", "")
    yield from answered(
        "Was synthetic AI-generated data created by the provider or on their behalf to train the "
        "model?", facts, "synthetic",
    )  # fmt: skip
    yield from sources(facts, "synthetic")
    yield from modality("Modality of the synthetic data:", facts, "synthetic")
    yield from blank("General-purpose AI model(s) used to generate the data, if on the market:")
    yield from blank("Information about other AI models used to generate the data:")
    yield from blank("Additional comments (optional):")


def others(facts: Facts) -> Lines:
    yield from ("### 2.6. Other sources of data", "")
    yield from answered(
        "Have data sources other than those described in Sections 2.1 to 2.5 been used to train "
        "the model?", facts, "other",
    )  # fmt: skip
    yield from sources(facts, "other")
    yield from blank("Narrative description of these data sources and the data:")
    yield from blank("Additional comments (optional):")
    if facts.sources_of(None):
        yield from ("Sources without a stated origin (`sources[].origin`), to be moved to the "
                    f"section above that fits: {TO_COMPLETE}", "")  # fmt: skip
        yield from sources(facts, None)
