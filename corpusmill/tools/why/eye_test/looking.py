"""The report of `corpusmill eye-test` on each split, with samples."""

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from corpusmill.messages.plain_text import json_text
from corpusmill.mill.storage.files import load_json
from corpusmill.reader.corpus import Corpus
from corpusmill.reader.samples import Samples
from corpusmill.reader.split import Split
from corpusmill.run.job_progress import phase
from corpusmill.tools.why.eye_test.drawing import Drawn, drawn
from corpusmill.tools.why.eye_test.figures import SHARES, Figures, figures_of
from corpusmill.tools.why.eye_test.texts import Decoder

FREQUENT = 8
"""Number of ids to show, the most frequent first."""


class Asked(NamedTuple):
    results: Path
    length: int
    samples: int
    seed: int
    as_json: bool


class Seen(NamedTuple):
    """Findings for a split."""

    split: Split
    figures: Figures
    drawn: Drawn | None  # None: too short for one sample
    sources: dict[str, Counter[str]]

    @property
    def faults(self) -> list[str]:
        """Return the problems that a trainer would have."""
        found = []
        if self.figures.without_end:
            found.append(
                f"{self.figures.without_end:,} documents do not end with the end-of-text token"
            )
        if self.figures.ends_inside:
            found.append(f"{self.figures.ends_inside:,} end-of-text ids are inside documents")
        if self.drawn and self.drawn.repeated:
            found.append(f"{self.drawn.repeated:,} samples occur twice in an epoch")
        if self.drawn and self.drawn.shifted < self.drawn.read:
            found.append("targets are not the inputs shifted by one")
        return found


def eye_test(asked: Asked) -> Iterator[str]:
    """Yield lines, or a JSON object for each split. The last line says whether anything is
    wrong."""
    corpus, decoder = Corpus(asked.results), Decoder(asked.results)
    faults = []
    for name in corpus.splits:
        seen = looked_at(corpus.split(name), asked)
        faults += [f"{name}: {fault}" for fault in seen.faults]
        if asked.as_json:
            yield json_text(as_json(seen, decoder), None)
        else:
            yield from told(seen, decoder)
            yield from shown(seen.split, asked, decoder)
    if faults:
        raise ValueError("\n".join(faults))


def looked_at(split: Split, asked: Asked) -> Seen:
    with phase(f"counting the ids of {split.name}", split.tokens, "tokens") as progress:
        figures = figures_of(split, progress.advance)
    long_enough = split.tokens > asked.length
    sources: dict[str, Counter[str]] = {}
    for number in range(len(split.shards.numbers)):
        facts = load_json(asked.results / split.shards.name(number, "json"))
        for source, counts in facts["by_source"].items():
            sources.setdefault(source, Counter()).update(counts)
    with phase(f"drawing samples from {split.name}"):
        return Seen(
            split, figures, drawn(split, asked.length, asked.seed) if long_enough else None, sources
        )


def told(seen: Seen, decoder: Decoder) -> Iterator[str]:
    split, figures = seen.split, seen.figures
    vocabulary = split.vocabulary.size
    yield (
        f"{split.name}: {split.tokens:,} tokens, {split.documents:,} documents, "
        f"shards: {len(split.shards.numbers):,}"
    )
    if not split.tokens:
        return
    at = ", ".join(f"{share:.0%} up to {figures.length_at(share):,}" for share in SHARES)
    yield f"  lengths    {at} tokens"
    used = int((figures.counts > 0).sum())
    yield (
        f"  ids        {used:,} of {vocabulary:,} occur; initial loss near ln({vocabulary:,}) = "
        f"{math.log(vocabulary):.2f}, with token frequencies alone {figures.entropy:.2f}"
    )
    frequent = figures.counts.argsort()[::-1][:FREQUENT].tolist()
    parts = [f"{decoder.name(id)} {figures.counts[id] / split.tokens:.2%}" for id in frequent]
    yield f"  frequent   {', '.join(parts)}"
    for kind, ids in (("special", list(decoder.special)), ("unknown", decoder.unknown)):
        there = [id for id in ids if figures.counts[id]]
        names = [f"{decoder.name(id)} {figures.counts[id]:,}" for id in there]
        yield f"  {kind}    {', '.join(names) or 'none'}"
    for source, counts in seen.sources.items():
        each = f"{counts['characters'] / counts['tokens']:.2f}" if counts["tokens"] else "no"
        yield f"  source     {source}: {counts['tokens']:,} tokens, {each} characters per token"
    yield f"  sampler    {sampler(seen.drawn)}"


def sampler(tried: Drawn | None) -> str:
    if tried is None:
        return "no sample: the split is shorter than one sample"
    of_all = f" of {tried.samples:,}" if tried.checked < tried.samples else ""
    return (
        f"{tried.checked:,}{of_all} samples drawn, {tried.repeated:,} twice; targets shifted by "
        f"one in {tried.shifted} of {tried.read}; {tried.tokens_per_second / 1e6:,.0f} million "
        "tokens/s on one core"
    )


def shown(split: Split, asked: Asked, decoder: Decoder) -> Iterator[str]:
    """Yield evenly spaced samples, decoded."""
    if split.tokens <= asked.length:
        return
    samples = Samples(split, asked.length)
    for k in range(min(asked.samples, len(samples))):
        number = k * len(samples) // asked.samples if asked.samples < len(samples) else k
        documents = split.documents_in(number * asked.length, (number + 1) * asked.length)
        first = split.placement(documents[0].document)
        more = f" and {len(documents) - 1} more" if len(documents) > 1 else ""
        yield (
            f"--- {split.name}, sample {number:,} of {len(samples):,}: document {first['id']} of "
            f"{first['source']}{more}"
        )
        yield decoder.text(samples[number].tolist())


def as_json(seen: Seen, decoder: Decoder) -> dict[str, Any]:
    split, figures, tried = seen.split, seen.figures, seen.drawn
    counts = figures.counts
    return {
        "split": split.name,
        "tokens": split.tokens,
        "documents": split.documents,
        "lengths": {f"{share:.0%}": figures.length_at(share) for share in SHARES}
        if split.documents else {},
        "ids": int((counts > 0).sum()),
        "vocabulary": split.vocabulary.size,
        "entropy": figures.entropy if split.tokens else None,
        "special": {text: int(counts[id]) for id, text in decoder.special.items()},
        "unknown": int(counts[decoder.unknown].sum()),
        "sources": {name: dict(found) for name, found in seen.sources.items()},
        "sampler": tried._asdict() if tried else None,
        "faults": seen.faults,
    }  # fmt: skip
