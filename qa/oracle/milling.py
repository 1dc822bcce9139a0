"""The whole pipeline, step after step."""

import hashlib
from functools import cache
from pathlib import Path

from qa.oracle import dedup, fate, mixture, order, packing, plan, prefer, reading, spans
from qa.oracle.document import Document, Outcome, Part
from qa.oracle.sketches import bands_and_rows, sketch
from qa.oracle.texts import clean, normalize
from qa.oracle.tokens import Tokens


def expected(
    folder: Path,
    config: dict,
    tokenizer: Path,
    generations: dict[str, int] | None = None,
    parts: list[list[str]] | None = None,
) -> Outcome:
    """A run of `config` over the input files below `folder` as it has to be.

    tokenizer: the folder that transformers loads. generations: input path -> generation of its
    part, 1 if not given. parts: paths of each part where files were added; else they are planned.
    """
    outcome = Outcome(config, folder, refused=refused_config(config))
    if outcome.refused:
        return outcome
    try:
        read(outcome, folder, generations or {}, parts)
        read_held_out(outcome, folder)
    except reading.DamagedInputError as error:
        outcome.refused = str(error)
    for step in (refuse_malformed, cut, measure, rank, resolve, decide):
        if not outcome.refused:
            step(outcome)
    if not outcome.refused:
        if mixture.counts_tokens(config):
            outcome.tokens = Tokens(tokenizer, config)
        mixture.mix(outcome)
    if not outcome.refused:
        shuffle(outcome)
    if not outcome.refused:
        outcome.tokens = outcome.tokens or Tokens(tokenizer, config)
        outcome.refused = outcome.tokens.encode(outcome)
    if not outcome.refused:
        packing.pack(outcome)
    return outcome


def refused_config(config: dict) -> str | None:
    """What is refused before any job."""
    milled = [source for source in config["sources"] if not source.get("held_out")]
    if not any(source.get("weight", 1) for source in milled):
        return "sources: all have the weight 0"
    if config["dedup"]["method"] == "sketch" and config["dedup"]["resolve"] == "kept":
        return "dedup: method sketch compares nobody, so resolve has to be component"
    if config["splits"]["validation"] + config["splits"]["test"] >= 1:
        return "splits: nothing is left for train"
    compared = sum(source.get("duplicates") != "none" for source in milled)
    if config["dedup"]["min_sources"] > max(1, compared):
        return f"dedup: only {compared} sources are compared"
    try:
        bands, rows = bands_and_rows(config)
    except ValueError as error:  # datasketch finds none for so few permutations
        return f"dedup: {error}"
    if bands * rows > config["minhash"]["permutations"]:
        return f"dedup: {bands} x {rows} bands exceed the permutations"
    return None


def read(outcome: Outcome, folder: Path, generations: dict, parts: list[list[str]] | None) -> None:
    config = outcome.config
    files = plan.milled_files(folder, config)
    planned = plan.plan_parts(files, config["input"]["part_bytes"])
    if parts is not None:
        by_path = {file.path: file for file in files}
        planned = [[by_path[path] for path in paths] for paths in parts]
    outcome.shard_counts = plan.shard_counts([f for part in planned for f in part], config)
    for number, members in enumerate(planned):
        part = Part(members, generations.get(members[0].path, 1))
        outcome.parts.append(part)
        for file in members:
            for record in records_of(folder, file.path, file.source, config):
                if record.text is None:
                    part.malformed.append((file, record))
                    continue
                text = normalize(record.text, config["normalize"]["mode"])
                place = (file.source, file.path, record.line)
                id_ = number << 32 | len(part.documents)
                part.documents.append(Document(id_, *place, text, text, record.rest))


def records_of(folder: Path, path: str, source: str, config: dict) -> list[reading.Record]:
    settings = settings_of(config, source)
    mends_text = config["normalize"]["mode"] == "ftfy"
    field = settings.get("text_field", "text")
    return list(reading.read_records(folder / path, field, mends_text))


def settings_of(config: dict, source: str) -> dict:
    return next(settings for settings in config["sources"] if settings["name"] == source)


def read_held_out(outcome: Outcome, folder: Path) -> None:
    config = outcome.config
    for source in config["sources"]:
        if not source.get("held_out"):
            continue
        counts = outcome.held_out_records[source["name"]] = {"records": 0, "malformed": 0}
        for file in plan.files_of(source, folder):
            for record in records_of(folder, file.path, file.source, config):
                counts["records"] += 1
                if record.text is None:
                    counts["malformed"] += 1
                    continue
                text = normalize(record.text, config["normalize"]["mode"])
                outcome.evaluation.add(hashlib.sha256(text.encode()).digest())


def refuse_malformed(outcome: Outcome) -> None:
    counts = dict(outcome.held_out_records)
    for source in outcome.sources():
        documents = sum(document.source == source for document in outcome.documents())
        malformed = sum(f.source == source for part in outcome.parts for f, _ in part.malformed)
        counts[source] = {"records": documents + malformed, "malformed": malformed}
    for source, count in counts.items():
        most = settings_of(outcome.config, source).get("max_malformed_fraction", 0)
        if count["records"] and count["malformed"] / count["records"] > most:
            outcome.refused = f"{source}: {count} are more malformed records than {most}"


def cut(outcome: Outcome) -> None:
    """Cut the spans that stand earlier in the corpus already."""
    settings = outcome.config["spans"]
    if settings["unit"] == "none":
        return
    takes_part = {s["name"]: s.get("cut_spans", True) for s in outcome.config["sources"]}
    texts = [(d.id, d.text, takes_part[d.source]) for d in outcome.documents()]
    cuts = spans.cut_corpus(texts, settings)
    together = settings["width"] if settings["unit"] == "sentence" else 1
    for document in outcome.documents():
        if document.id in cuts:
            document.cuts = cuts[document.id]
            firsts = [span.unit for span in document.cuts]
            document.text = spans.cut_text(document.before, settings["unit"], together, firsts)


def measure(outcome: Outcome) -> None:
    """Clean, filter, sketch."""
    config = outcome.config
    sketch_of = cache(lambda cleaned: sketch(cleaned, config["minhash"]))
    for document in outcome.documents():
        document.cleaned = clean(document.text)
        document.digest = hashlib.sha256(document.text.encode()).digest()
        if config["dedup"]["method"] != "exact":
            document.sketch = sketch_of(document.cleaned)
        for entry in config["filters"]:
            least, chars = entry.get("min_chars", 200), len(document.cleaned)
            if entry["name"] == "too_short" and chars < least:
                document.filter_reason = f"chars {chars} below min_chars {least}"
            if document.text == "" if entry["name"] == "empty" else chars < least:
                document.filter_fate = entry["name"]
                break
        takes_all = config["dedup"]["candidates"] == "all"
        document.takes_part = takes_all or document.filter_fate == "kept"
        document.policy = settings_of(config, document.source).get("duplicates", "near")
        if config["dedup"]["within"] is not None:
            document.value = prefer.value_at(document.members, config["dedup"]["within"])


def rank(outcome: Outcome) -> None:
    """The order of documents, best first; refuse numbers and texts in one preferred field."""
    config = outcome.config
    documents = list(outcome.documents())
    wanted = config["dedup"]["prefer"]["field"]
    members = [next((m for m in d.members if m.name == wanted), None) for d in documents]
    places = [prefer.place_of(member) for member in members]
    kinds = {place[0] for place in places if place}
    if len(kinds) > 1:
        outcome.refused = f"numbers and texts in {wanted}"
        return
    highest = config["dedup"]["prefer"]["order"] == "highest"
    preferred = prefer.ranks([place and place[1] for place in places], highest)
    for document, place, preference in zip(documents, places, preferred, strict=True):
        document.preferred_kind = place[0] if place else "none"
        document.preference = prefer.key_of(place, highest)
        source = settings_of(config, document.source)
        generation = outcome.parts[document.id >> 32].generation
        document.order = (
            not (document.filter_fate == "kept" and source.get("weight", 1) > 0),
            generation if config["dedup"]["earlier_first"] else 0,
            source.get("priority", float("inf")),
            preference,
            -document.text_bytes,
            document.id,
        )


def resolve(outcome: Outcome) -> None:
    resolution = dedup.resolve(list(outcome.documents()), outcome.config)
    outcome.resolution = resolution
    limit = outcome.config["dedup"]["max_group_texts"]
    if limit is not None and resolution.largest_group > limit:
        outcome.refused = f"{resolution.largest_group} texts hang together"
    for source in outcome.sources():
        kept = [d for d in outcome.documents() if d.source == source and d.filter_fate == "kept"]
        duplicates = sum(document.winner is not None for document in kept)
        most = settings_of(outcome.config, source).get("max_duplicate_fraction", 0.9)
        if duplicates > most * len(kept):
            outcome.refused = f"{source}: {duplicates} of {len(kept)} are duplicates"


def decide(outcome: Outcome) -> None:
    fate.decide(list(outcome.documents()), outcome.config)
    fate.decontaminate(outcome)


def shuffle(outcome: Outcome) -> None:
    """Every copy of every kept document to its shard, in order of (key, id)."""
    seeds = {one["name"]: one.get("seed") for one in outcome.config["stages"]}
    copies_of_split: dict[str, list] = {split: [] for split in outcome.shard_counts}
    for document in outcome.documents():
        if document.fate == "kept":
            for split, copies in outcome.copies_of(document).items():
                copies_of_split[split] += [(document, copy, copies) for copy in range(copies)]
    for split, count in outcome.shard_counts.items():
        for shard in range(count):
            outcome.shards[split, shard] = []
        seed = seeds.get(split)
        seed = outcome.config["shuffle"]["seed"] if seed is None else seed
        purpose = f"order {split}" if split in seeds else "order"
        keys = {
            (document.id, copy): fate.order_key(document.id, copy, copies, seed, purpose)
            for document, copy, copies in copies_of_split[split]
        }
        placed = [(document, copy) for document, copy, _ in copies_of_split[split]]
        match order.order_of(outcome.config, split):
            case "as_found":
                keys = order.keys_as_found(placed)
            case dict():
                curriculum = order.Curriculum(outcome, placed)
                if curriculum.refused:
                    outcome.refused = "shuffle.order: documents without a value"
                    return
                keys = curriculum.keys(keys)
                outcome.order[split] = curriculum.bands()
        for document, copy in placed:
            key = keys[document.id, copy]
            row = key, document.id, copy, document
            outcome.shards[split, key * count // fate.WRAP].append(row)
    for rows in outcome.shards.values():
        rows.sort(key=lambda row: row[:2])
