"""The history of a document, in sentences, by the steps of the run."""

import textwrap
from collections.abc import Callable
from typing import Any, NamedTuple

from corpusmill.messages.plain_text import shown
from corpusmill.messages.sentences import sentence
from corpusmill.mill.account.ledger_columns import copies_in
from corpusmill.mill.decide.fates import (
    CONTAMINATED,
    DUPLICATE,
    FEW_SOURCES,
    KEPT,
    LEFT_OVER,
    NOT_SAMPLED,
    TRAIN,
    fate_of,
)
from corpusmill.mill.dedup.policy_names import EXACT, NONE
from corpusmill.tools.why.comparison import fitted, side_by_side
from corpusmill.tools.why.facts import Facts
from corpusmill.tools.why.in_mixture import in_words

NAMED = 5
"""Maximum number of documents or pieces that are named."""

PIECE_CHARS = 160
STEP_WIDTH = 15


class Step(NamedTuple):
    """A step of the run, named by its rule, and its effect on the document."""

    name: str
    said: str


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 copy`, `2 copies`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def place(facts: Facts) -> str:
    return f"line {facts.row['line']:,} of {facts.row['file']}"


def upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def words(facts: Facts) -> dict[str, Any]:
    """Return the values for the sentence of a fate; see `Fate`."""
    row = {"reason": "", "winner": "", "stage": "", "split": "", "held_out_by": "", **facts.row}
    copies = row.get("copies", 0)
    return row | {
        "name": f"Document {facts.id}" if facts.is_document else "",
        "Place": upper(place(facts)),
        "often": {1: "", 2: " twice"}.get(copies, f" {copies} times"),
        "copies": counted(copies, "copy", "copies"),
        "similarity": f", {row['similarity']:.4f}" if "similarity" in row else "",
    }


def heading(facts: Facts) -> str:
    return fate_of(facts.fate).heading.format_map(words(facts))


def steps(facts: Facts) -> list[Step]:
    """Return what each step did, up to the one that dropped it."""
    fate = fate_of(facts.fate)
    if not facts.is_document:
        return [Step(fate.step, f"Put aside: {facts.row['reason']}.{put_aside(facts)}")]
    told = [read(facts), *cut(facts), filtered(facts)]
    if fate.is_compared:
        told.append(compared(facts))
    if fate.name in DECIDED:
        told += [step for decide in DECIDED[fate.name] if (step := decide(facts))]
    elif not facts.by_filter:
        told.append(
            Step(fate.step, f"Dropped as {fate.name}: {facts.row.get('reason', fate.meaning)}")
        )
    return told + written(facts)


def put_aside(facts: Facts) -> str:
    found = facts.quarantined
    if not found:
        return " The content of this record is only in the input file."
    at = "" if found["offset"] is None else f", at byte {found['offset']:,} of the unpacked file"
    return (
        f" The record is {place(facts)}, source {facts.row['source']}{at}, and begins: "
        f"{shown(found['start']) or 'with nothing'}"
    )


def read(facts: Facts) -> Step:
    row = facts.row
    whole = row["text_bytes"] + row.get("cut_bytes", 0)
    mode = facts.results.config.normalize.mode
    return Step(
        "normalize",
        f"Read from {place(facts)}, source {row['source']}: {whole:,} bytes of text "
        f"(normalize.mode {mode}).",
    )


def cut(facts: Facts) -> list[Step]:
    if "cuts" not in facts.row:
        return []
    spans = sum(piece.by == "spans" for piece in facts.pieces)
    edits = [f"{piece.by}.{piece.rule}" for piece in facts.pieces if piece.by != "spans"]
    told = []
    if spans:
        unit = facts.results.config.spans.unit
        firsts = {piece.first or 0 for piece in facts.pieces if piece.by == "spans"}
        were = "was cut" if spans == 1 else "were cut"
        first = (
            f"{'it occurs' if spans == 1 else 'they occur'} first in {documents(sorted(firsts))}"
        )
        told.append(
            Step("cut", f"{counted(spans, 'repeated span')} {were} (spans.unit {unit}); {first}.")
        )
    if edits:
        by_rule = [f"{edits.count(rule)} by {rule}" for rule in dict.fromkeys(edits)]
        told.append(
            Step(
                "measure",
                f"{counted(len(edits), 'piece')} cut from the text: {', '.join(by_rule)}.",
            )
        )
    if not told:
        told.append(
            Step("cut", f"{counted(facts.row['cuts'], 'piece')} cut; the list of cuts was removed.")
        )
    lost, left = facts.row["cut_bytes"], facts.row["text_bytes"]
    last = told[-1]
    told[-1] = Step(last.name, f"{last.said} {lost:,} bytes were cut in total, {left:,} are left.")
    return told


def documents(ids: list[Any], total: int = 0) -> str:
    """Name documents: `document 7`, `documents 7, 8 and 3 more`."""
    total = max(total, len(ids))
    named = ", ".join(map(str, ids[:NAMED]))
    more = f" and {total - NAMED:,} more" if total > NAMED else ""
    return f"document{'s' if total > 1 else ''} {named}{more}"


def filtered(facts: Facts) -> Step:
    names = [filter.name for filter in facts.results.config.filters]
    values = [f"{name} {value_in_words(value)}" for name, value in facts.measured.items()]
    measured = f" Measured: {', '.join(values)}." if values else ""
    if facts.fate not in names:
        none = f"No filter ({', '.join(names)}) dropped this document." if names else "No filters."
        return Step("filter", none + measured)
    reason = facts.row.get("reason")
    if reason is None:
        reason = f"with the settings {settings_in_words(facts)}"
    return Step("filter", f"Dropped by the filter {facts.fate}: {reason}.{measured}")


def settings_in_words(facts: Facts) -> str:
    """Describe the settings of the filter that dropped it, for its source."""
    (filter,) = (one for one in facts.results.config.filters if one.name == facts.fate)
    named = {**filter.given_settings, **filter.own_sources.get(facts.row["source"], {})}
    return ", ".join(f"{name} {value}" for name, value in named.items()) or "it has"


def value_in_words(value: Any) -> str:
    if isinstance(value, str):
        return repr(shown(value if len(value) <= 60 else value[:57] + "..."))
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if type(value) is int else str(value).lower()


def compared(facts: Facts) -> Step:
    ids, count = facts.dropped_for_it
    if facts.policy == NONE:
        source = facts.row["source"]
        return Step("resolve", f"Not compared: the source {source} has duplicates: none.")
    if facts.winner is None:
        others = (
            f"{counted(count, 'duplicate')} dropped in favor of this one: {documents(ids, count)}."
        )
        none = "No other document was dropped in favor of this document."
        return Step("resolve", f"{others if count else none}{compared_with(facts)}")
    winner = facts.winner
    if winner.fate == KEPT:
        became = f"kept, in {winner.row['split']}"
    elif winner.by_filter:
        became = f"itself dropped by the filter {winner.fate}"
    else:
        became = f"itself dropped by a later step: {winner.fate}"
    return Step(
        "resolve",
        f"{how_alike(facts)} Document {winner.id} ({place(winner)}, source "
        f"{winner.row['source']}) ranks higher: {winner.comes_first_because(facts)}. "
        f"Document {winner.id} was {became}.",
    )


def compared_with(facts: Facts) -> str:
    """Say with which documents it was compared; "" if with all."""
    within, told = facts.results.config.dedup.within, ""
    if facts.policy == EXACT:
        source = facts.row["source"]
        told = f" The source {source} has duplicates: exact, so only equal texts were compared."
    if within:
        told += f" Only documents with the same {within} were compared (dedup.within)."
    return told


def how_alike(facts: Facts) -> str:
    """Say in which stage the two were found similar; see docs/reference/formats.md."""
    config, row = facts.results.config, facts.row
    other, chars = f"document {row['winner']}", config.minhash.shingle_chars
    share = f"{row.get('similarity', 0):.4f}"
    limit = f"dedup.threshold is {config.dedup.threshold}"
    return {
        "identical": f"This document and {other} have the same text (SHA-256).",
        "sketch": f"The sketches of this document and of {other} agree in {share} of their "
        f"values; {limit}; "
        "the chance of an error is below 1e-9.",
        "shingles": f"The {chars}-character shingles of this document and of {other} have a "
        f"Jaccard similarity of {share}; {limit}.",
        "band": f"This document shares a band key with {other}; dedup.method is "
        f"{config.dedup.method}.",
        "chain": f"A chain of similar pairs connects this document with {other}; dedup.resolve is "
        f"{config.dedup.resolve}.",
    }[row["stage"]]


def disagreed(facts: Facts) -> Step:
    wanted = facts.results.config.dedup.min_sources
    return Step(
        "assign",
        f"Fewer than {wanted} sources have this document or a duplicate of it (dedup.min_sources).",
    )


def assigned(facts: Facts) -> Step:
    config, source = facts.results.config, facts.row["source"]
    weight, seed = facts.results.sources[source].weight, config.shuffle.seed
    if facts.fate == NOT_SAMPLED:
        return Step(
            "assign",
            f"The source {source} has weight {weight}, and this document is not in the kept share "
            f"(drawn with shuffle.seed {seed}).",
        )
    split = facts.row["split"]
    share = "" if split == "train" else f" (splits.{split} {getattr(config.splits, split)})"
    if config.mixtures and split == TRAIN:
        return Step("assign", f"Drawn for {split}.")
    copies = counted(facts.row["copies"], "copy", "copies")
    return Step("assign", f"Drawn for {split}{share}; {copies}, as its source has weight {weight}.")


def mixed(facts: Facts) -> Step | None:
    exclude = {stage.name: stage.exclude or [] for stage in facts.results.config.stages}
    told = []
    for found in facts.in_mixtures:
        copies = facts.row.get(copies_in(found.split) if exclude else "copies", 0)
        others = exclude.get(found.split, [])
        used = [one for one in others if facts.row.get(copies_in(one))]
        told.append(in_words(found, copies, used))
    if told:
        return Step("mix", " ".join(told))
    if facts.fate == LEFT_OVER:
        return Step("mix", "The mixture gave it no copy; the files of the mixture were removed.")
    return None


def contaminated(facts: Facts) -> Step:
    origin, twin = facts.row["held_out_by"], facts.equals
    if twin is not None:
        said = f"that of document {twin.id} ({place(twin)}), held out for {origin}"
    elif origin == "evaluation":
        held = [name for name, one in facts.results.sources.items() if one.held_out]
        said = f"one of the sources that are held out ({', '.join(held)})"
    else:
        said = f"one that is held out for {origin}"
    before = ", before or after the cuts," if "cuts" in facts.row else ""
    return Step("decontaminate", f"Its text{before} equals {said}.")


DECIDED: dict[str, tuple[Callable[[Facts], Step | None], ...]] = {
    DUPLICATE: (),
    FEW_SOURCES: (disagreed,),
    NOT_SAMPLED: (assigned,),
    CONTAMINATED: (contaminated,),
    LEFT_OVER: (mixed,),
    KEPT: (assigned, mixed),
}
"""Additional steps in the stories of fates that need their own sentences."""


def written(facts: Facts) -> list[Step]:
    results, told = facts.results, []
    for copy in facts.copies:
        which = f"Copy {copy.copy + 1} of {len(facts.copies)}" if len(facts.copies) > 1 else "It"
        shard, folder = f"{copy.split}/{copy.shard:05d}", results.folder
        text = f"{folder}/corpus/{shard}.{results.text_ending}"
        tokens = f"{copy.token_start:,} to {copy.token_end - 1:,} of {folder}/tokens/{shard}.bin"
        told += [
            Step("gather", f"{which} is line {copy.row + 1:,} of {text}."),
            Step("encode", f"Its tokens are {tokens}; the last one is the end-of-text token."),
        ]
    return told


def laid_out(told: list[Step], width: int) -> list[str]:
    """Lay steps out in lines of a width, with their names in front."""
    lines, before = [], ""
    for step in told:
        name = step.name if step.name != before else ""
        body = textwrap.wrap(step.said, max(width - STEP_WIDTH, 30), break_on_hyphens=False)
        heads = [name, *[""] * (len(body) - 1)]
        lines += [f"{head:{STEP_WIDTH}}{line}" for head, line in zip(heads, body, strict=True)]
        before = step.name
    return lines


def pieces_shown(facts: Facts, width: int) -> list[str]:
    """Show the first pieces cut from the text."""
    lines = []
    for piece in facts.pieces[:NAMED]:
        by = "repeated span" if piece.by == "spans" else f"{piece.by}.{piece.rule}"
        text = "its text was removed" if piece.text is None else excerpt(piece.text)
        lines.append(fitted(f"cut, {by}, bytes {piece.start:,} to {piece.end:,}: {text}", width))
    if len(facts.pieces) > NAMED:
        lines.append(f"and {len(facts.pieces) - NAMED:,} more")
    return lines


def excerpt(text: str) -> str:
    """Return the beginning of a text, on one line."""
    start = " ".join(text[:PIECE_CHARS].split())
    return shown(start) + ("..." if len(text) > PIECE_CHARS else "")


def texts_shown(facts: Facts, width: int) -> list[str]:
    """Show the text, or both texts of a duplicate side by side."""
    if not facts.is_document:
        return []
    if facts.text.text is None:
        return [sentence(f"The text of this document cannot be shown: {facts.text.where}")]
    if facts.winner is None:
        body = textwrap.wrap(excerpt(facts.text.text), width)[:3] or ["(the text is empty)"]
        return [*body, f"({facts.text.where})"]
    other = facts.winner.text
    if other.text is None:
        return [f"The text of document {facts.winner.id} cannot be shown: {other.where}."]
    if facts.text.text == other.text:
        body = textwrap.wrap(excerpt(other.text), width)[:3]
        return ["Both texts are the same, byte for byte:", *body]
    heads = f"document {facts.id}, dropped", f"document {facts.winner.id}"
    return side_by_side(heads, (facts.text.text, other.text), width)


def story(facts: Facts, width: int) -> list[str]:
    """Return the whole story in lines of a width."""
    blocks = [
        [heading(facts)],
        laid_out(steps(facts), width),
        pieces_shown(facts, width),
        texts_shown(facts, width),
    ]
    lines: list[str] = []
    for block in blocks:
        if block:
            lines += [*([""] if lines else []), *block]
    return lines


def line_of_list(facts: Facts) -> list[str]:
    """Return id, place, fate and reason, for a list."""
    row, why = facts.row, fate_of(facts.fate).in_list.format_map(words(facts))
    return [str(row.get("id", "-")), f"{row['file']}:{row['line']}", facts.fate, shown(why)]
