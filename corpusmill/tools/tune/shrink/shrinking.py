"""`corpusmill shrink`: write lists of documents that are proxies of a corpus."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from corpusmill.messages.plain_text import json_text
from corpusmill.messages.text_tables import aligned
from corpusmill.mill.decide.fates import TRAIN
from corpusmill.mill.decide.mixture import Mixture, Stage
from corpusmill.mill.storage.files import as_json, replacing
from corpusmill.mill.tokens.pack_files import npy_header
from corpusmill.reader.corpus import Corpus
from corpusmill.reader.shrunk import (
    COPIES,
    DOCUMENTS,
    DTYPE_OF_DOCUMENTS,
    DTYPES_OF_COPIES,
    FACTS,
    VERSION,
)
from corpusmill.reader.split import Split
from corpusmill.tools.tune.shrink.asked import mixtures_of_files, mixtures_of_table
from corpusmill.tools.tune.shrink.pool import pool_of, with_values
from corpusmill.tools.tune.shrink.proxies import Proxy, Shrinker, merged, of_corpus
from corpusmill.tools.why.results import Results

ITSELF = "corpus"
"""Name of the proxy of the corpus itself."""
MOST_DIFFERENCE = 0.01
"""Repetition may differ by this much before a sentence says so."""
MOST_SHOWN = 20


def shrunk(
    results: Path,
    in_json: bool,
    tokens: float,
    out: Path,
    split: str,
    configs: tuple[Path, ...],
    ratios: Path | None,
    target: float | None,
) -> str:
    """Write the proxies; return what the command prints."""
    config = Results(results).config
    read = Corpus(results).split(split)
    wanted = int(tokens)
    pool = pool_of(results, read, list(config.weights))
    asked: dict[str, Mixture] = {}
    of_target = None if target is None else int(target)
    if ratios is not None:
        asked = mixtures_of_table(config, configs, ratios, of_target)
    elif configs:
        asked = mixtures_of_files(config, configs, of_target)
    elif of_target is not None:
        raise ValueError("--target-tokens: expected mixtures, from --try or --ratios, found none.")
    proxies: dict[str, Proxy] = {}
    if asked:
        stages = [Stage(TRAIN, [], mixture) for mixture in asked.values()]
        shrinker = Shrinker(with_values(pool, results, stages), config.shuffle.seed)
        for name, mixture in asked.items():
            try:
                proxies[name] = shrinker.proxy(mixture, wanted)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error
    else:
        proxies[ITSELF] = of_corpus(pool, wanted, config.shuffle.seed)
    places, copies = merged(proxies)
    order = np.argsort(pool.first[places])
    facts = write(out, read, pool.first[places][order], copies[:, order], proxies, wanted)
    return json_text(facts) if in_json else "\n".join(in_words(facts, out))


def write(
    out: Path,
    split: Split,
    documents: np.ndarray,
    copies: np.ndarray,
    proxies: Mapping[str, Proxy],
    tokens: int,
) -> dict[str, Any]:
    """Write the files of the proxies; return the description, which is written last."""
    out.mkdir(parents=True, exist_ok=True)
    size = 1 if copies.max(initial=0) < 256 else 2
    numbers, lists = documents.astype(DTYPE_OF_DOCUMENTS), copies.astype(DTYPES_OF_COPIES[size])
    facts = {
        "corpusmill.shrink": VERSION,
        "corpus": split.digest,
        "split": split.name,
        "tokens": tokens,
        "documents": int(numbers.size),
        "documents_sha256": hashlib.sha256(numbers.tobytes()).hexdigest(),
        "bytes_per_number": size,
        "mixtures": [
            {"name": name, **told(proxy), "sha256": hashlib.sha256(row.tobytes()).hexdigest()}
            for (name, proxy), row in zip(proxies.items(), lists, strict=True)
        ],
    }
    (out / FACTS).unlink(missing_ok=True)  # it must not describe other lists
    for path, array in ((out / DOCUMENTS, numbers), (out / COPIES, lists)):
        with replacing(path) as temporary, temporary.open("wb") as file:
            file.write(npy_header(array.shape, array.dtype))
            file.write(array.tobytes())
    with replacing(out / FACTS) as temporary:
        temporary.write_text(as_json(facts), "utf-8")
    return facts


def told(proxy: Proxy) -> dict[str, Any]:
    return {
        "target_tokens": proxy.target_tokens,
        "tokens": proxy.tokens,
        "documents": int((proxy.copies > 0).sum()),
        "share_difference": proxy.share_difference,
        "repetition_difference": proxy.repetition_difference,
        "repetition": {str(n): share for n, share in proxy.repetition.items()},
        "target_repetition": {str(n): share for n, share in proxy.target_repetition.items()},
    }


def in_words(facts: dict[str, Any], out: Path) -> list[str]:
    """Return a table of the proxies, those that differ most from their target first."""
    mixtures = sorted(facts["mixtures"], key=lambda one: -one["repetition_difference"])
    rows = [["mixture", "tokens", "documents", "of tokens", "shares differ", "repetition differs"]]
    rows += [
        [one["name"], f"{one['tokens']:,}", f"{one['documents']:,}", f"{one['target_tokens']:,}",
         f"{one['share_difference']:.2%}", f"{one['repetition_difference']:.2%}"]
        for one in mixtures[:MOST_SHOWN]
    ]  # fmt: skip
    lines = aligned(rows).splitlines()
    if len(mixtures) > MOST_SHOWN:
        lines.append(f"and {len(mixtures) - MOST_SHOWN:,} more, which differ less")
    coarse = [one for one in mixtures if one["repetition_difference"] > MOST_DIFFERENCE]
    if coarse:
        lines.append(
            f"The repetition of {len(coarse):,} of {len(mixtures):,} proxies differs from the "
            f"target by more than {MOST_DIFFERENCE:.0%}: they have too few documents. Take more "
            "tokens, or fewer cells."
        )
    name = f', mixture="{mixtures[0]["name"]}"' if len(mixtures) > 1 else ""
    lines += [
        f"{out} has {facts['documents']:,} documents for {len(mixtures):,} proxies. Read one with",
        f'Shuffled(Shrunk(Corpus("results").split("{facts["split"]}"), "{out}"{name}), ...)',
    ]
    return lines
