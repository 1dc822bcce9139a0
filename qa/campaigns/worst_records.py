"""Seconds that each step takes for one large record of the worst kinds: they have to grow linearly.

    python -m qa.campaigns.worst_records --tokenizer DIR --megabytes 1 4 64

Every cell is CPU seconds and peak memory of a process of its own. `>` stands before the limit where
a step was ended by it.
"""

import argparse
import functools
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import naive_models
import numpy as np
import pyarrow as pa

from benchmarks.measuring import memory_mb
from corpusmill.kernels.similarity import Texts, measure_pairs
from corpusmill.messages.progress import Silence
from corpusmill.mill.dedup.minhash import MinHasher
from corpusmill.mill.filters.configured import ConfiguredFilter, configured
from corpusmill.mill.filters.documents import Documents
from corpusmill.mill.filters.languages.identification import identify
from corpusmill.mill.filters.measuring import Measures
from corpusmill.mill.filters.models.quality_model import (
    Definition,
    QualityModel,
    save_quality_model,
)
from corpusmill.mill.filters.registry import known_filters
from corpusmill.mill.read.digests import digests_of
from corpusmill.mill.read.normalization import normalizer
from corpusmill.mill.read.readers import read_records
from corpusmill.mill.read.spans import UNITS, cut_out, spans_of, units_of
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.mill.read.unicode_tables import character_table
from corpusmill.mill.tokens.losses import lost_characters
from corpusmill.mill.tokens.tokenizers import (
    decoded,
    definition_of,
    gigatoken_encoder,
    load_reference,
    plain_definition,
    reference_ids,
)

SMALL = 2000


def repeated(unit: str) -> Callable[[int], str]:
    """A text of so many bytes, of one piece over and over."""
    return lambda size: unit * (size // len(unit.encode()))


def two_halves(one: str, other: str) -> Callable[[int], str]:
    return lambda size: (
        one * (size // 2 // len(one.encode())) + other * (size // 2 // len(other.encode()))
    )


def of_many(points: range) -> Callable[[int], str]:
    """Characters of a range in no order."""

    def text(size: int) -> str:
        each = len(chr(points[0]).encode())
        chosen = np.random.default_rng(0).integers(points.start, points.stop, size // each)
        return "".join(map(chr, chosen.tolist()))

    return text


def prose(size: int) -> str:
    words = ["the", "miller", "opened", "a", "sluice", "before", "sunrise.", "Then", "he", "\n"]
    chosen = np.random.default_rng(0).integers(0, len(words), size // 5)
    return " ".join([words[n] for n in chosen.tolist()])[:size]


TEXTS: dict[str, Callable[[int], str]] = {
    "prose": prose,
    "marks, sorted": repeated("\u0301"),
    "marks, two classes": repeated("\u0301\u0316"),
    "marks, first the later": two_halves("\u0301", "\u0316"),
    "marks that decompose": repeated("\u0344\u0f73"),
    "one letter": repeated("a"),
    "one letter, not ASCII": repeated("é"),
    "one letter, decomposed": repeated("e\u0301"),
    "two letters": repeated("ab"),
    "letters in no order": of_many(range(ord("a"), ord("z") + 1)),
    "brackets": repeated("["),
    "curly brackets": repeated("{"),
    "less than": repeated("<"),
    "at": repeated("@"),
    "digits": repeated("1"),
    "digits and points": repeated("1.1,"),
    "marks of punctuation": repeated("."),
    "quotes": repeated("'"),
    "quotes and letters": repeated("'a"),
    "slashes": repeated("/"),
    "addresses": repeated("http://a."),
    "ampersands": repeated("&amp;"),
    "spaces": repeated(" "),
    "newlines": repeated("\n"),
    "short lines": repeated("a\n"),
    "sentences": repeated("A. "),
    "no-break spaces": repeated("\u00a0"),
    "nulls": repeated("\0"),
    "joiners": repeated("\u200d"),
    "emoji with joiners": repeated("👩\u200d"),
    "flags": repeated("🇩"),
    "Han": of_many(range(0x4E00, 0x9FA5)),
    "one Han": repeated("水"),
    "Hangul, decomposed": repeated("\u1100\u1161\u11a8"),
    "Thai": repeated("ก\u0e49"),
    "sigmas": repeated("Σ'"),
    "capitals": repeated("A"),
    "mojibake": repeated("Ã©"),
    "escapes": repeated("\x1b[0m"),
}
"""Name -> a text of about so many bytes of UTF-8."""


def json_of(member: Callable[[int], str]) -> Callable[[int], bytes]:
    return lambda size: member(size).encode("utf-8", "surrogatepass")


LINES: dict[str, Callable[[int], bytes]] = {
    "prose": lambda size: json.dumps({"text": prose(size)}).encode(),
    "escaped nulls": json_of(lambda size: '{"text":"%s"}' % ("\\u0000" * (size // 6))),
    "escaped surrogates": json_of(lambda size: '{"text":"%s"}' % ("\\ud83d" * (size // 6))),
    "escaped pairs": json_of(lambda size: '{"text":"%s"}' % ("\\ud83d\\ude00" * (size // 12))),
    "escaped quotes": json_of(lambda size: '{"text":"","a":"%s"}' % ('\\"' * (size // 2))),
    "escapes and brackets": json_of(
        lambda size: '{"text":"","a":"%s"}' % ('\\"[{' * (size // 4))
    ),
    "brackets in members": json_of(lambda size: '{"text":"","a":[%s0]}' % ("[]," * (size // 3))),
    "deep": json_of(
        lambda size: '{"text":"","a":' + "[" * (size // 2) + "]" * (size // 2) + "}"
    ),
    "deep, not closed": json_of(lambda size: '{"text":"","a":' + "[" * size),
    "deep objects": json_of(
        lambda size: '{"text":"","a":' + '{"a":' * (size // 6) + "1" + "}" * (size // 6) + "}"
    ),
    "members": lambda size: json.dumps(
        {"text": ""} | {f"{n:x}": 1 for n in range(size // 11)}
    ).encode(),
    "a member twice": lambda size: json.dumps(
        {"text": ""} | {f"{n:x}": 1 for n in range(size // 11)}
    ).encode()[:-1] + b',"text":""}',
    "a long name": json_of(lambda size: '{"text":"","%s":1}' % ("a" * size)),
    "a long number": json_of(lambda size: '{"text":"","a":1%s}' % ("0" * size)),
    "blanks": json_of(lambda size: '{"text":""%s}' % (" " * size)),
    "no end": json_of(lambda size: '{"text":"' + "a" * size),
    "quotes alone": json_of(lambda size: '"' * size),
}  # fmt: skip
"""Name -> a line of about so many bytes, a record or none."""


def column_of(*texts: str) -> TextColumn:
    return TextColumn.of(string_array([text.encode() for text in texts]))


def documents_of(text: str) -> Documents:
    """A document whose record has the same text as a member."""
    column = column_of(text)
    batch = pa.record_batch(
        [column.array(), pa.array([b'"url":' + msgspec.json.encode(text)], pa.large_binary()),
         pa.array([0], pa.uint32()), pa.array([1], pa.uint64())],
        names=["text", "rest", "file", "line"],
    )  # fmt: skip
    return Documents(column, batch, [{"source": "s", "path": "p"}])


def spans(unit: str) -> Callable[[str], object]:
    def step(text: str) -> object:
        column = column_of(text)
        width = 3 if unit == "sentence" else 1
        units = units_of(column, unit)
        _, places = spans_of(column, units, width, 1, np.ones(1, bool))
        heads = (places & np.uint64(0xFFFFFFFF)).astype(np.int64)
        return cut_out(column, unit, width, np.zeros(heads.size, np.int64), heads)

    return step


def entries(folder: Path) -> Iterator[dict]:
    """Each filter of ours with settings that let it do all it can."""
    lists = {
        "list": b"bad\nvery bad\nb\xc3\xa4d\n[\n@\n",
        "domains": b"bad.org\na.bad.org\n", "urls": b"http://bad.org/a\n", "words": b"bad\n",
        "soft_words": b"soft\nbad\n", "subwords": b"bad\n",
    }  # fmt: skip
    for name, content in lists.items():
        (folder / name).write_bytes(content)
    weights = np.zeros(1 << 10, np.float32)
    save_quality_model(folder / "quality", QualityModel(Definition(2, 10), 0.1, weights))
    chance = np.random.default_rng(0)
    model = naive_models.Model(
        [b"</s>", b"a"], [b"__label__a", b"__label__b"], [2, 1], loss="softmax",
        input=chance.normal(size=(52, 5)).astype(np.float32),
        output=chance.normal(size=(2, 5)).astype(np.float32),
        buckets=50, least=2, most=5, most_words=4,
    )  # fmt: skip
    (folder / "fasttext.bin").write_bytes(naive_models.model_bytes(model))
    settings = {
        "bad_words": {"list": str(folder / "list")},
        "fasttext": {"model": str(folder / "fasttext.bin")},
        "quality_model": {"model": str(folder / "quality")},
        "language": {"languages": ["en"]},
        "metadata": {"field": "url", "matches": "x"},
        "metadata_number": {"field": "url", "min": 1},
        "url_blocklist": {one: str(folder / one) for one in [*lists][1:]},
    }
    for name in known_filters():
        yield ConfiguredFilter({"name": name} | settings.get(name, {})).measuring


def measure(entry: dict) -> Callable[[str], object]:
    return lambda text: Measures(configured([entry])).add(documents_of(text))


def sign(text: str) -> object:
    hasher = MinHasher("affine32", 128, 13, 42)
    return hasher.sign(column_of(text)), digests_of(column_of(text))


def compare(text: str) -> object:
    """Exactly, with a text that differs in its end."""
    column = column_of(text, text[: -len(text) // 8] + "x")
    offsets = column.offsets
    texts = Texts(column.data, offsets[:-1].copy(), offsets[1:].copy(), character_table(), 13)
    values = np.empty(1)
    measure_pairs(np.array([[0, 1]]), 0.5, texts, values)
    return values


@functools.cache
def reference(tokenizer: str):
    return load_reference(tokenizer)


@functools.cache
def engine(tokenizer: str):
    return gigatoken_encoder(plain_definition(definition_of(reference(tokenizer))))


def tokenizing(tokenizer: str) -> dict[str, Callable[[str], object]]:
    def encode(text: str) -> object:
        return engine(tokenizer)([text.encode()])

    def encode_by_reference(text: str) -> object:
        return reference_ids(reference(tokenizer), [text])

    def lose(text: str) -> object:
        """As for a text of which the ids alone do not say that nothing is lost."""
        (ids,) = reference_ids(reference(tokenizer), [text[: 1 << 16]])
        times = max(1, len(text) >> 16)
        assert decoded(reference(tokenizer), ids)
        return lost_characters(reference(tokenizer), ids * times, text, frozenset())

    return {"encode": encode, "reference": encode_by_reference, "losses": lose}


def steps(folder: Path, tokenizer: str | None) -> dict[str, Callable[[str], object]]:
    """Name -> what a step does with a text. folder: for lists and models of filters."""
    return {
        "nfc": normalizer("nfc"),
        "ftfy": normalizer("ftfy"),
        **{f"spans {unit}": spans(unit) for unit in UNITS},
        "languages": lambda text: identify(column_of(text)),
        **{entry["name"]: measure(entry) for entry in entries(folder)},
        "sign": sign,
        "compare": compare,
        **(tokenizing(tokenizer) if tokenizer else {}),
    }


def read(mode: str) -> Callable[[bytes], object]:
    def step(line: bytes) -> object:
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
            file.write(line + b"\n")
            file.flush()
            return [type(one) for one in read_records(file.name, "text", Silence(), mode == "ftfy")]

    return step


def measured(work: Callable[[], object], limit: int) -> dict:
    """CPU seconds and peak memory of work in a process of its own; what it failed with, or that it
    took longer than the limit."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        try:
            Path("/proc/self/clear_refs").write_text("5")
            started = time.process_time()
            work()
            found = {"seconds": time.process_time() - started, "peak_mb": memory_mb("VmHWM")}
        except BaseException as error:
            found = {"error": f"{type(error).__name__}: {str(error)[:200]}"}
        os.write(writing, json.dumps(found).encode())
        os._exit(0)
    os.close(writing)
    try:
        said = os.read(reading, 1 << 16)
        return json.loads(said) if said else {"error": f"> {limit} s"}
    finally:
        os.waitpid(process, 0)
        os.close(reading)


def cells(given: argparse.Namespace, folder: Path) -> Iterator[tuple[str, str, float, dict]]:
    """Kind, step, megabytes and what was measured."""
    table: list[tuple[str, str, Callable, Callable]] = [
        (f"line: {name}", f"read {mode}", make, read(mode))
        for name, make in LINES.items() for mode in ("nfc", "ftfy")
    ]  # fmt: skip
    done = steps(folder, given.tokenizer)
    table += [(name, step, make, do) for name, make in TEXTS.items() for step, do in done.items()]
    for kind, step, make, do in table:
        if given.kind not in kind or given.step not in step:
            continue
        do(make(SMALL))  # kernels are compiled, and what is kept is there
        for megabytes in given.megabytes:
            found = measured(functools.partial(do, make(int(megabytes * (1 << 20)))), given.limit)
            yield kind, step, megabytes, found
            if "seconds" not in found:
                break


def told(found: dict) -> str:
    return found.get("error") or f"{found['seconds']:.2f} s, {found['peak_mb']:,.0f} MB"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--tokenizer", help="a folder; without it no text is tokenized")
    arguments.add_argument("--megabytes", type=float, nargs="+", default=[1, 4])
    arguments.add_argument("--kind", default="", help="only kinds with this in their name")
    arguments.add_argument("--step", default="", help="only steps with this in their name")
    arguments.add_argument("--limit", type=int, default=600, help="CPU seconds of a step")
    with tempfile.TemporaryDirectory() as folder:
        for kind, step, megabytes, found in cells(arguments.parse_args(), Path(folder)):
            print(f"{kind:24} {step:20} {megabytes:6g} MB  {told(found)}", flush=True)


if __name__ == "__main__":
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    main()
