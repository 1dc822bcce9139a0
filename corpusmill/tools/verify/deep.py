"""Checks the content of files against each other.

Files that do not match the manifest are skipped, and figures of unreadable files are not used.
Shards and row groups are read one at a time, so memory depends on the size of a shard, not of the
corpus.
"""

import tempfile
from collections import Counter
from pathlib import Path

from corpusmill.mill.account.accounts import LOSS_SUMS, funnel, imbalances
from corpusmill.mill.account.cross_checks import mixture_numbers
from corpusmill.mill.account.mixture_account import Mixed
from corpusmill.mill.decide.fates import LEFT_OVER, SPLITS, in_order
from corpusmill.run.job_progress import phase
from corpusmill.run.layout import joined_name
from corpusmill.run.order_config import SHUFFLED
from corpusmill.tools.verify.accounts import LedgerLook
from corpusmill.tools.verify.between import MOST_TOLD
from corpusmill.tools.verify.copies import CopySums
from corpusmill.tools.verify.decoding import Decoder
from corpusmill.tools.verify.document_order import AsFoundCheck, SplitOrder
from corpusmill.tools.verify.findings import Findings
from corpusmill.tools.verify.groups import hold_groups
from corpusmill.tools.verify.listing import Listing, gaps
from corpusmill.tools.verify.locations import Place, whole
from corpusmill.tools.verify.packs import hold_packs
from corpusmill.tools.verify.reading import UNLIKE, Corpus
from corpusmill.tools.verify.shard_documents import Shard, ShardLook, shards_of
from corpusmill.tools.verify.summary import SUMMARY, summary_of
from corpusmill.tools.verify.told import (
    META,
    Written,
    guarded,
    hold_facts,
    hold_joined,
    hold_meta,
    tell,
)

TOKENIZER = "tokenizer/"


def look_inside(place: Place, listing: Listing, findings: Findings) -> None:
    """Check the files of a corpus against each other."""
    corpus = Corpus(place, listing, findings)
    if any(gaps(listing.files)):
        findings.unseen("the content of the files", "the manifest leaves some of them out")
        return
    summary = summary_of(corpus)
    if summary is None and not findings.damaged(SUMMARY):
        why = (
            "it is missing, or was written by an earlier version of corpusmill; its figures were "
            "still counted"
        )
        findings.unseen(SUMMARY, why, by_design=True)
    shards = shards_of(corpus)
    stages = stages_of(summary)
    splits = in_order({*(stages or SPLITS[:1]), *SPLITS[1:]})
    counts = {split: sum(1 for one in shards if one.split == split) for split in splits}
    order = order_of(summary)
    seeds = {}
    if summary is not None:
        seeds = dict.fromkeys(splits, summary["configuration"]["shuffle"]["seed"]) | stages
        seeds = {split: seed for split, seed in seeds.items() if order.is_shuffled(split)}
    for split in splits:
        if order.is_curriculum and not order.is_shuffled(split):
            why = "the shards do not contain the values that put documents in order"
            findings.unseen(f"the order of {split}", why, by_design=True)
    expected, found = CopySums(counts, seeds), CopySums(counts, seeds)
    ledger = LedgerLook(corpus, expected, counts)
    with phase("verifying the ledger", unit="parts") as progress:
        ledger.look(progress)
    with tempfile.TemporaryDirectory(prefix="corpusmill-") as folder:
        decoder = decoder_of(corpus, Path(folder))
        written = look_at_shards(corpus, shards, decoder, found, order)
    if ledger.complete:
        ledger.between.hold_whole(ledger.account)
        hold_copies(corpus, shards, expected, found)
        try:
            hold_account(corpus, ledger.account, written, summary)
        except UNLIKE as error:
            corpus.findings.damage(SUMMARY, f"is no account: {type(error).__name__}: {error}")
    else:
        findings.unseen("whether documents balance", "a part of the ledger cannot be read")
    with phase("verifying facts about all shards"):
        guarded(corpus, META, lambda: hold_meta(corpus, decoder, written))
        if decoder and summary and (told := summary.get("tokenizer")) is not None:
            facts = decoder.setting._asdict()
            tell(corpus, SUMMARY, told, {name: facts.get(name) for name in told})
        hold_packs(corpus, shards, summary)
        hold_groups(corpus, shards, summary)
        for split in splits:
            if (joined := f"tokens/{joined_name(split)}.bin") in listing.files:
                hold_joined(corpus, joined, [one for one in shards if one.split == split])


def order_of(summary: dict | None) -> SplitOrder:
    """Return the order of the splits of a run."""
    shuffle = {} if summary is None else summary["configuration"]["shuffle"]
    return SplitOrder(shuffle.get("order", SHUFFLED))


def stages_of(summary: dict | None) -> dict[str, int]:
    """Return the stages of a run, each with the seed of its order."""
    if summary is None:
        return {}
    configuration = summary["configuration"]
    seed = configuration["shuffle"]["seed"]
    return {one["name"]: one.get("seed", seed) for one in configuration.get("stages", [])}


def decoder_of(corpus: Corpus, folder: Path) -> Decoder | None:
    """Return the tokenizer; None if its files are damaged, which is reported.

    folder: gets a copy of its files, so that it loads in the same way from anywhere.
    """
    names = [name for name in corpus.listing.files if name.startswith(TOKENIZER)]
    if not names or not all(map(corpus.has, names)):
        corpus.findings.unseen("tokens", "the tokenizer is damaged or missing")
        return None
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(whole(corpus.place, name))
    try:
        decoder = Decoder(folder / TOKENIZER, corpus.place.where(TOKENIZER))
    except UNLIKE as error:
        corpus.unlike(f"{TOKENIZER}corpusmill.json", error)
        return None
    if not decoder.setting.lossless:
        why = "its tokenizer does not restore texts exactly; lost characters were counted"
        corpus.findings.unseen("whether tokens decode to their text", why, by_design=True)
    return decoder


def look_at_shards(
    corpus: Corpus, shards: list[Shard], decoder: Decoder | None, found: CopySums, order: SplitOrder
) -> Written:
    """Check the content of every shard and report contradictions."""
    files = corpus.listing.files
    sizes = [sum(files[n].bytes for n in (one.text, one.token_file("bin")) if n in files)
             for one in shards]  # fmt: skip
    written = {}
    as_found = AsFoundCheck()
    with phase("verifying", sum(sizes)) as progress:
        for number, (shard, size) in enumerate(zip(shards, sizes, strict=True)):
            doing = f"reading {number:,} of {len(shards):,} shards"
            look = ShardLook(corpus, shard, decoder, found)
            for documents in look.look():
                progress.name = f"{doing}, {documents:,} documents of it"
            if order.is_as_found and look.placed:
                as_found.hold(corpus, shard, look.placed)
            hold_facts(corpus, shard, look.counted, decoder)
            written[shard] = look.counted
            progress.advance(size)
    return written


def hold_copies(corpus: Corpus, shards: list[Shard], expected: CopySums, found: CopySums) -> None:
    """Compare the copies in the shards with the ledger; unless shuffled, per split."""
    places: dict[int, list[Shard]] = {}
    for shard in shards:
        places.setdefault(expected.place(shard.split, shard.number), []).append(shard)
    for place, those in places.items():
        counts = int(expected.count[place]), int(found.count[place])
        moved = counts[0] != counts[1] or expected.of_copies[place] != found.of_copies[place]
        if moved and all(corpus.has(shard.placements) for shard in those):
            fault = f"its {counts[1]:,} documents differ from the {counts[0]:,} that the ledger has"
            corpus.findings.damage(those[0].placements, fault)
        others = expected.of_texts[place] != found.of_texts[place]
        if others and all(corpus.has(shard.text) for shard in those):
            fault = "documents or their SHA-256 differ from the ledger"
            corpus.findings.damage(those[0].text, fault)


def hold_account(
    corpus: Corpus, account: dict[str, Counter], written: Written, summary: dict | None
) -> None:
    """Compare the account of every source, counted from ledger and shards, with the summary."""
    if summary is None:
        return
    fates = list(summary["documents"]["dropped"])
    for fault in imbalances(account, "the ledger", fates):
        corpus.findings.damage(SUMMARY, fault)
    known = all(one.tokens_known for one in written.values())
    for shard, counted in written.items():
        for source, figures in counted.texts.items():
            account.setdefault(source, Counter())["written_bytes"] += figures["text_bytes"]
        for source, figures in counted.tokens.items():
            own = account.setdefault(source, Counter())
            own[f"{shard.split}_tokens"] += figures["tokens"]
            own.update({name: figures[name] for name in LOSS_SUMS})
    whole: Counter[str] = Counter()
    for figures in account.values():
        whole.update(figures)
    wanted = ["documents", *(["bytes", "tokens", "tokenization"] if known else [])]
    splits = list(summary["tokens"])
    found = {name: funnel(figures, fates, splits) for name, figures in account.items()}
    told = summary["sources"]
    tell(
        corpus, SUMMARY,
        {name: {one: figures.get(one) for one in wanted} for name, figures in told.items()},
        {name: {one: figures[one] for one in wanted} for name, figures in found.items()},
    )  # fmt: skip
    totals = funnel(whole, fates, splits)
    tell(corpus, SUMMARY, {one: summary.get(one) for one in wanted},
         {one: totals[one] for one in wanted})  # fmt: skip
    if known:
        mixed = Mixed(summary.get("mixture", {}), whole[LEFT_OVER])
        of_splits = {split: whole[f"{split}_tokens"] for split in splits}
        numbers = mixture_numbers(account, mixed, of_splits)
        unequal = [f"{what}: {one} and {other}" for what, one, other in numbers if one != other]
        if unequal:
            more = f"; and {len(unequal) - MOST_TOLD} more" if len(unequal) > MOST_TOLD else ""
            corpus.findings.damage(SUMMARY, "; ".join(unequal[:MOST_TOLD]) + more)
    else:
        why = "a shard is damaged or missing"
        corpus.findings.unseen("bytes and tokens of the summary", why)
