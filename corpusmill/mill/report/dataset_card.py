"""The dataset card of a corpus: metadata for the Hugging Face hub, and a description for people."""

from corpusmill.messages.markdown import plain
from corpusmill.mill.report.account_tables import (
    funnel_table,
    languages_table,
    number,
    origins_table,
    sources_table,
    splits_table,
)
from corpusmill.mill.report.corpus_facts import EVALUATED, Facts
from corpusmill.mill.report.front_matter import front_matter, name_of
from corpusmill.mill.report.how_made import how_made, limits

HERE = 'Corpus("results")'
"""The corpus in the example below; `publish` writes the address there."""

LOADING = """\
```python
from corpusmill.reader import Batches, Corpus, Shuffled

corpus = {here}
for tokens in Batches(Shuffled(corpus.split("{split}"), length=2048, seed=1), batch_size=8):
    inputs, targets = tokens[:, :-1], tokens[:, 1:]
```

```python
from datasets import load_dataset

# on the Hugging Face hub: load_dataset(NAME, "text", split="{split}")
texts = load_dataset("{format}", data_files="corpus/{split}/*.{ending}", split="train")
```
"""
FORMATS = {"jsonl.zst": "json", "parquet": "parquet"}
"""Ending of text shards -> name of the format in the library datasets."""


def dataset_card(facts: Facts) -> str:
    """Return the card. It depends only on the corpus, not on time or machine."""
    sections = {
        "What it is": what_it_is(facts),
        "Sources": sources(facts),
        "How it was made": list(how_made(facts)),
        "Funnel": funnel_table(facts.summary),
        "Languages": languages_table(facts.summary),
        "Splits": splits_table(facts) if facts.splits else ["No document was kept."],
        "Files and how to load them": files(facts),
        "Limits and what was not done": [f"- {line}" for line in limits(facts)],
    }
    lines = [*front_matter(facts), "", f"# {plain(name_of(facts))}", ""]
    for heading, body in sections.items():
        lines += [f"## {heading}", "", *body, ""]
    return "\n".join(lines)


def what_it_is(facts: Facts) -> list[str]:
    summary = facts.summary
    written, tokens = summary["documents"]["written"], sum(summary["tokens"].values())
    version = plain(summary["versions"]["corpusmill"])
    return [
        f"A corpus of text for training language models: {number(written)} documents, "
        f"{number(tokens)} tokens. corpusmill {version} made it.",
        "",
        f"- SHA-256 of the manifest: {plain(summary['manifest'])}",
        f"- digest of the configuration: {plain(summary['config_digest'])}",
    ]


def sources(facts: Facts) -> list[str]:
    return [
        "Bytes are those of the texts in UTF-8. Documents written include copies.",
        "",
        *sources_table(facts),
        "",
        *origins_table(facts.origins),
    ]


def order_in_words(facts: Facts) -> str:
    order = facts.configuration["shuffle"].get("order", "shuffled")
    read = "to keep this order, read with `InOrder`, not `Shuffled`"
    if isinstance(order, dict):
        by = order["by"]["member"] if isinstance(order["by"], dict) else order["by"]
        value = f"{'descending' if order.get('descending') else 'ascending'} {plain(by)}"
        return (
            f"train in {number(order['bands'])} bands of {value}, each shuffled, validation and "
            f"test shuffled; {read}"
        )
    return "shuffled" if order == "shuffled" else f"in the order of the input; {read}"


def files(facts: Facts) -> list[str]:
    train = [one for one in facts.text_files if one[0] not in EVALUATED] or facts.text_files
    lines = [
        f"- `corpus/{{split}}/`: the documents as text, {order_in_words(facts)}",
        "- `tokens/{split}/`: the same documents as token ids, in the same order",
        "- `tokenizer/`: the tokenizer",
        "- `ledger/`: what happened to each input record, and why",
        "- `manifest.json`: all files with size and SHA-256",
        "- `summary.json`: all figures of this page",
    ]
    if train:
        split, ending = train[0]
        named = {"split": split, "ending": ending, "format": FORMATS[ending]}
        lines += ["", *LOADING.format(here=HERE, **named).splitlines()]
    return lines
