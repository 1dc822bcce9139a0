"""Decisions of datatrove's filters on documents, with its words and its speed.

Reads JSON lines {"text", "sentences"}; sentences maps lines to their number of sentences, so that
both sides count alike. Writes {"words", decision per filter: null if kept, or its reason}, and
finally {"seconds"}.
"""

import argparse
import json
import time

import spacy
from datatrove.data import Document
from datatrove.pipeline.filters import (
    C4QualityFilter,
    FineWebQualityFilter,
    GopherQualityFilter,
    GopherRepetitionFilter,
    c4_filters,
    fineweb_quality_filter,
    gopher_quality_filter,
    gopher_repetition_filter,
)

FILTERS = {
    "gopher_quality": GopherQualityFilter(),
    "gopher_repetition": GopherRepetitionFilter(),
    "c4": C4QualityFilter(filter_no_terminal_punct=False),
    "fineweb_quality": FineWebQualityFilter(),
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("documents")
    arguments.add_argument("out")
    told = arguments.parse_args()
    # As datatrove splits English. Its length limit is for parsers, which are not loaded.
    splitter = spacy.blank("en")
    splitter.max_length = 1 << 40
    words: list[str] = []
    sentences: dict[str, int] = {}
    for module in (gopher_quality_filter, gopher_repetition_filter, fineweb_quality_filter):
        module.split_into_words = lambda text, language: words
    c4_filters.split_into_sentences = lambda line, language: [line] * sentences[line]
    seconds = 0.0
    with open(told.documents, encoding="utf-8") as lines, open(told.out, "w") as out:
        for line in lines:
            record = json.loads(line)
            sentences = record["sentences"]
            start = time.perf_counter()
            stripped = (word.text.strip() for word in splitter.make_doc(record["text"]))
            words = [word for word in stripped if word]
            decisions = {name: decision(one, record["text"]) for name, one in FILTERS.items()}
            seconds += time.perf_counter() - start
            out.write(json.dumps({"words": words, **decisions}) + "\n")
        out.write(json.dumps({"seconds": seconds}) + "\n")


def decision(filter, text: str) -> str | None:
    try:
        found = filter.filter(Document(text=text, id=""))
    except ZeroDivisionError:
        return "ZeroDivisionError"
    return None if found is True else found[1]


if __name__ == "__main__":
    main()
