"""Checks stated figures of shards against their content."""

import hashlib
from collections import Counter
from collections.abc import Callable
from typing import Any

from corpusmill.mill.storage.plain_pickles import plain_values
from corpusmill.tools.verify.between import contradictions
from corpusmill.tools.verify.decoding import Decoder
from corpusmill.tools.verify.kinds import MANIFEST
from corpusmill.tools.verify.listing import Kept
from corpusmill.tools.verify.locations import whole
from corpusmill.tools.verify.reading import UNLIKE, Corpus
from corpusmill.tools.verify.shard_documents import Counted, Shard

META = "tokens/meta.pkl"

Written = dict[Shard, Counted]
"""The counted content of each shard."""


def guarded(corpus: Corpus, name: str, look: Callable[[], None]) -> None:
    """Check a file that is listed and intact; report malformed content."""
    if not corpus.has(name):
        return
    try:
        look()
    except UNLIKE as error:
        corpus.unlike(name, error)


def tell(corpus: Corpus, name: str, told: Any, found: Any) -> None:
    """Report a file whose figures differ from those counted or listed."""
    if faults := contradictions(told, found):
        corpus.findings.damage(name, faults)


def hold_facts(corpus: Corpus, shard: Shard, counted: Counted, decoder: Decoder | None) -> None:
    """Check the `.json` of a shard's text and tokens against the files and the manifest."""
    facts = shard.token_file("json")
    guarded(corpus, shard.text_facts, lambda: hold_text_facts(corpus, shard, counted))
    guarded(corpus, facts, lambda: hold_token_facts(corpus, shard, counted, decoder))


def listed(file: Kept | None, *names: str) -> dict[str, Any]:
    """Return a file's figures in the manifest."""
    return {name: getattr(file, name, None) for name in names}


def hold_text_facts(corpus: Corpus, shard: Shard, counted: Counted) -> None:
    told = corpus.json(shard.text_facts)
    found = listed(corpus.listing.files.get(shard.text), "documents", "bytes", "sha256")
    if found["documents"] != counted.documents and corpus.has(shard.text):
        fault = f"lists {found['documents']} documents in {shard.text}, found {counted.documents}"
        corpus.findings.damage(MANIFEST, fault)
    if corpus.has(shard.text):
        found |= {"by_source": counted.texts, "documents": counted.documents}
    tell(corpus, shard.text_facts, {name: told.get(name) for name in found}, found)


def hold_token_facts(
    corpus: Corpus, shard: Shard, counted: Counted, decoder: Decoder | None
) -> None:
    bin, facts = shard.token_file("bin"), shard.token_file("json")
    told = corpus.json(facts)
    found = listed(corpus.listing.files.get(bin), "documents", "tokens", "bytes", "sha256")
    index = corpus.listing.files.get(shard.token_file("idx"))
    found["index_sha256"] = listed(index, "sha256")["sha256"]
    if decoder:
        setting = decoder.setting
        found |= {"dtype": setting.dtype, "vocabulary": setting.vocabulary,
                  "end_of_text_id": setting.end_of_text_id}  # fmt: skip
    if counted.tokens_known:
        found["by_source"] = counted.tokens
    tell(corpus, facts, {name: told.get(name) for name in found}, found)
    lost = [
        sum(one.get("lost_characters", 0) for one in by_source.values())
        for by_source in (told.get("by_source", {}), counted.tokens)
    ]
    if counted.tokens_known and lost[0] != lost[1]:
        fault = f"other tokens than those of {shard.text}: {counted.losing} lose characters"
        corpus.findings.damage(bin, fault)


def hold_meta(corpus: Corpus, decoder: Decoder | None, written: Written) -> None:
    """Check meta.pkl, which nanoGPT-style trainers read."""
    told = plain_values(whole(corpus.place, META), META)
    totals: Counter[str] = Counter()
    for shard in written:
        listed = corpus.listing.files.get(shard.token_file("bin"))
        totals[shard.split] += (listed and listed.tokens) or 0
    found: dict[str, Any] = {
        "total_tokens": dict(totals), "generation": corpus.listing.content.get("generation"),
    }  # fmt: skip
    if decoder:
        setting = decoder.setting
        found |= {"tokenizer": setting.source, "vocab_size": setting.vocabulary,
                  "eos_token_id": setting.end_of_text_id, "dtype": setting.dtype}  # fmt: skip
    tell(corpus, META, {name: told.get(name) for name in found}, found)


def hold_joined(corpus: Corpus, joined: str, shards: list[Shard]) -> None:
    """Check that a joined file is the concatenation of its split's shards."""
    names = [shard.token_file("bin") for shard in shards]
    if not all(map(corpus.has, [joined, *names])):
        return
    digest = hashlib.sha256()
    for name in names:
        for block in corpus.place.blocks(name):
            digest.update(block)
    if digest.hexdigest() != corpus.listing.files[joined].sha256:
        corpus.findings.damage(joined, f"differs from the {len(names)} shards of its split, joined")
    facts = joined.removesuffix(".bin") + ".json"
    listed = corpus.listing.files[joined]
    found = {"bytes": listed.bytes, "sha256": listed.sha256, "shards": len(names)}
    guarded(corpus, facts, lambda: tell(corpus, facts, corpus.json(facts), found))
