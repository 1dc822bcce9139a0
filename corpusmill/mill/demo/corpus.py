"""The demo corpus: about 20 MB of text from the Python installation itself, made offline.

Real text comes from the standard library (sources, docstrings, reference topics), many scripts and
edge cases from `passages.py`, and duplicates with known truth are planted. The same installation
gives the same bytes. Every file has a different format, so that the demo uses every reader.
"""

import ast
import gzip
import io
import multiprocessing
import os
import random
import re
import string
import sysconfig
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from pydoc_data.topics import topics as reference_topics
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from corpusmill.mill.demo.files import FILES
from corpusmill.mill.demo.passages import (
    MALFORMED_RECORDS,
    MARKS_TEXTS,
    PASSAGES,
    SHORT_TEXTS,
    TOKEN_LITERALS,
    invented_text,
    invented_words,
)

N_MALFORMED = len(MALFORMED_RECORDS)  # all of them in passages.jsonl

SEED = 20
MAX_CODE_BYTES = 12_000_000
MAX_DOCSTRING_BYTES = 5_000_000
PARSERS = 2
"""Number of processes that parse the standard library: half a second less than with one."""
FRAME_BYTES = 1 << 20
SHINGLE_CHARS = 13
MIN_BASE_CHARS = 400  # cleaned; a shorter document may be dropped before it is compared
MAX_COPIED_CHARS = 20_000
SKIPPED_FOLDERS = {"test", "tests", "idle_test", "__pycache__", "site-packages", "dist-packages"}

# Number of planted cases by kind.
N_COPIES = {"code.jsonl.zst": 60, "docstrings.jsonl.gz": 60, "topics.parquet": 20}
N_FAMILIES = 120
N_NEAR = 400
N_NEAR_REAL = 60
N_NEAR_RESTYLED = 20
N_LONE = 320
N_EVALUATION_FRESH = 20
N_EVALUATION_PLANTED = 10


def make_demo(directory: Path, tell: Callable[[str], None] = lambda message: None) -> dict:
    """Write every file of FILES, truth.jsonl and evaluation.jsonl into `directory`.

    Returns {"documents": {file: n}, "text_bytes": {file: n}, "malformed": n, "planted": {kind: n}};
    malformed records are not documents.
    """
    directory.mkdir(parents=True, exist_ok=True)
    tell("reading the standard library")
    sources: dict[str, list[Any]] = {
        "code.jsonl.zst": (code := code_records(Path(sysconfig.get_paths()["stdlib"]))),
        "docstrings.jsonl.gz": docstring_records(code),
        "topics.parquet": topic_records(),
        "passages.jsonl": passage_records(),
    }
    tell("planting duplicates")
    sources["planted.jsonl.zst"], evaluation, truth = plant(sources)

    for name in FILES:
        tell(f"writing {name}")
        replace_file(directory / name, encode(name, sources[name]))
    replace_file(directory / "evaluation.jsonl", encode("evaluation.jsonl", evaluation))
    replace_file(directory / "truth.jsonl", encode("truth.jsonl", truth))

    texts = {name: [r["text"] for r in rs if isinstance(r, dict)] for name, rs in sources.items()}
    return {
        "documents": {name: len(texts[name]) for name in FILES},
        "text_bytes": {name: sum(len(t.encode()) for t in texts[name]) for name in FILES},
        "malformed": N_MALFORMED,
        "planted": dict(Counter(case["kind"] for case in truth)),
    }


# A record is a dict with a "text", or the raw bytes of a malformed line.


def code_records(stdlib: Path) -> list[dict]:
    """One record per source file that is UTF-8, by relative path, up to MAX_CODE_BYTES."""
    records, n_bytes = [], 0
    for name, path in sorted(source_files(stdlib)):
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            continue  # a source in another encoding is not demo material
        n_bytes += len(text.encode())
        if n_bytes > MAX_CODE_BYTES:
            break
        records.append(
            {"text": text, "path": name, "lines": text.count("\n"), "license": "PSF-2.0"}
        )
    if not records:
        raise ValueError(
            f"{stdlib}: expected the .py sources of the standard library, found none. "
            "The demo needs a Python whose library is a folder, not a zip archive."
        )
    return records


def source_files(stdlib: Path) -> Iterator[tuple[str, Path]]:
    """Yield relative path and path of each .py file outside SKIPPED_FOLDERS."""
    for folder, below, files in os.walk(stdlib):
        below[:] = set(below) - SKIPPED_FOLDERS
        for path in (Path(folder, file) for file in files if file.endswith(".py")):
            yield path.relative_to(stdlib).as_posix(), path


def docstring_records(code: list[dict]) -> list[dict]:
    """One record per module that has docstrings, up to MAX_DOCSTRING_BYTES. Imports nothing."""
    records, n_bytes = [], 0
    with multiprocessing.get_context("fork").Pool(PARSERS) as pool:
        for record in pool.imap(docstring_record, code, chunksize=20):
            if record is None:
                continue
            n_bytes += len(record["text"].encode())
            if n_bytes > MAX_DOCSTRING_BYTES:
                break
            if record["text"]:
                records.append(record)
    return records


def docstring_record(source: dict) -> dict | None:
    """Return the record of a module; None if it cannot be parsed."""
    module = source["path"].removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old escapes in old modules
        try:
            tree = ast.parse(source["text"])
        except SyntaxError:
            return None  # a template or a deliberate counterexample
    found = list(docstrings(tree, module))
    # A docstring may spell a lone surrogate, which UTF-8 cannot hold.
    text = "\n\n".join(f"{name}\n\n{doc}" for name, doc, _ in found).encode("utf-8", "replace")
    meta = {"module": module, "functions": sum(is_function for *_, is_function in found)}
    return {"text": text.decode(), "meta": meta}


def docstrings(node: Any, name: str) -> Iterator[tuple[str, str, bool]]:
    """Yield (qualified name, docstring, is it a function's) of `node` and what it defines."""
    is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    doc = ast.get_docstring(node)
    if doc:
        yield name, doc, is_function
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from docstrings(child, f"{name}.{child.name}")


def topic_records() -> list[dict]:
    """One record per topic of the language reference, by name."""
    return [
        {"text": text, "topic": topic, "length": len(text)}
        for topic, text in sorted(reference_topics.items())
    ]


def passage_records() -> list[dict | bytes]:
    """Passages in NFC or NFD, edge cases, and the malformed records spread among them."""
    rng = random.Random(f"{SEED} passages")
    records: list[dict | bytes] = []
    for i, (language, passage) in enumerate(PASSAGES.items()):
        form = "NFD" if i % 3 == 2 else "NFC"
        text = unicodedata.normalize(form, passage)  # type: ignore[arg-type]
        records.append({"text": text, "language": language, "form": form, "case": "passage"})
    for literal in TOKEN_LITERALS:
        for where in (0, 40, 80):  # words before the literal: at the start, inside, at the end
            words = invented_words(rng, "en", 80)
            text = " ".join([*words[:where], literal, *words[where:]])
            records.append({"text": text, "language": "en", "form": "NFC", "case": "literal"})
    records += [{"text": text, "case": "short"} for text in SHORT_TEXTS]
    records += [{"text": text, "case": "marks"} for text in MARKS_TEXTS]
    records += [{"text": "", "case": "empty"} for _ in range(10)]
    for i, malformed in enumerate(MALFORMED_RECORDS):
        records.insert(7 * i + 3, malformed)
    return records


class Place(NamedTuple):
    """The place of a record; `index` counts from 0, in planted.jsonl.zst before the shuffle."""

    file: str
    index: int  # type: ignore[assignment]


@dataclass
class Planted:
    """The planted records, and the cases (kind, a, b, Jaccard) that they take part in."""

    records: list[dict] = field(default_factory=list)
    cases: list[tuple[str, Place, Place, float]] = field(default_factory=list)

    def add(self, text: str, **fields: Any) -> Place:
        self.records.append({"text": text, **fields})
        return Place("planted.jsonl.zst", len(self.records) - 1)


def plant(sources: dict[str, list]) -> tuple[list[dict], list[dict], list[dict]]:
    """Return the records of planted.jsonl.zst, evaluation.jsonl and truth.jsonl."""
    planted = Planted()
    plant_copies(planted, sources)
    plant_families(planted)
    plant_near(planted, sources["docstrings.jsonl.gz"])
    evaluation = plant_evaluation(planted, sources["topics.parquet"], sources["passages.jsonl"])

    # The shuffle puts most partners far apart, so that parts and splits come between them.
    order = list(range(len(planted.records)))
    random.Random(f"{SEED} order").shuffle(order)
    line_of = {index: line for line, index in enumerate(order, start=1)}

    def locate(place: Place) -> dict:
        is_planted = place.file == "planted.jsonl.zst"
        line = line_of[place.index] if is_planted else place.index + 1
        return {"file": place.file, "line": line}

    truth = [
        {"kind": kind, "a": locate(a), "b": locate(b), "jaccard": similarity}
        for kind, a, b, similarity in planted.cases
    ]
    return [planted.records[index] for index in order], evaluation, truth


def plant_copies(planted: Planted, sources: dict[str, list]) -> None:
    """Exact duplicates across files; those of passages have the other normal form."""
    for file, n_copies in N_COPIES.items():
        rng = random.Random(f"{SEED} copies {file}")
        places = usable_indices(sources[file])
        for index in sorted(rng.sample(places, min(n_copies, len(places)))):
            copy = planted.add(sources[file][index]["text"], case="exact")
            planted.cases.append(("exact", Place(file, index), copy, 1.0))
    for index in usable_indices(sources["passages.jsonl"]):
        record = sources["passages.jsonl"][index]
        if record["case"] == "passage":
            other_form = {"NFC": "NFD", "NFD": "NFC"}[record["form"]]
            text = unicodedata.normalize(other_form, record["text"])  # type: ignore[arg-type]
            copy = planted.add(text, language=record["language"], case="exact")
            planted.cases.append(("exact", Place("passages.jsonl", index), copy, 1.0))


def plant_families(planted: Planted) -> None:
    """Families of 2 to 4 equal documents; in every third the copies are in NFD."""
    rng = random.Random(f"{SEED} families")
    for i in range(N_FAMILIES):
        language = list(PASSAGES)[i % len(PASSAGES)]
        text = invented_text(rng, language)
        first = planted.add(text, language=language, case="exact")
        copied = unicodedata.normalize("NFD", text) if i // len(PASSAGES) % 3 == 0 else text
        for _ in range(rng.randint(1, 3)):
            copy = planted.add(copied, language=language, case="exact")
            planted.cases.append(("exact", first, copy, 1.0))


def plant_near(planted: Planted, docstring_documents: list[dict]) -> None:
    """Near duplicates: of invented texts, of docstring documents, and of texts restyled only."""
    rng = random.Random(f"{SEED} near")
    for i in range(N_NEAR + N_NEAR_RESTYLED):
        language = list(PASSAGES)[i % len(PASSAGES)] if i < N_NEAR else "en"
        text = invented_text(rng, language)
        if i < N_NEAR:
            copied = rewrite(rng, text, language, jaccard_goal=0.6 + 0.38 * (i + 0.5) / N_NEAR)
        else:
            copied = restyle(text)
        first = planted.add(text, language=language, case="near")
        copy = planted.add(copied, language=language, case="near")
        planted.cases.append(("near", first, copy, jaccard(text, copied)))

    rng = random.Random(f"{SEED} near real")
    indices = usable_indices(docstring_documents)
    for i, index in enumerate(sorted(rng.sample(indices, min(N_NEAR_REAL, len(indices))))):
        text = docstring_documents[index]["text"]
        copied = rewrite(rng, text, "en", jaccard_goal=0.6 + 0.38 * (i + 0.5) / N_NEAR_REAL)
        copy = planted.add(copied, language="en", case="near")
        place = Place("docstrings.jsonl.gz", index)
        planted.cases.append(("near", place, copy, jaccard(text, copied)))


def plant_evaluation(planted: Planted, topics: list[dict], passages: list) -> list[dict]:
    """Add documents that have no duplicate; return an evaluation set that holds some of them.

    It also holds topics and passages. Where these have a planted copy, truth.jsonl relates the
    evaluation text to the original, and the original to its copy.
    """
    rng = random.Random(f"{SEED} evaluation")
    languages = list(PASSAGES)
    lone = [
        planted.add(invented_text(rng, language), language=language, case="lone")
        for language in (languages[i % len(languages)] for i in range(N_LONE))
    ]
    leaked = [(place, planted.records[place.index]) for place in lone[:N_EVALUATION_PLANTED]]
    leaked += [(Place("topics.parquet", i), topics[i]) for i in usable_indices(topics)[::8]]
    leaked += [(Place("passages.jsonl", i), passages[i]) for i in usable_indices(passages)[::3]]
    evaluation: list[dict[str, str]] = []
    for place, record in leaked:
        form = "NFD" if len(evaluation) % 2 else "NFC"
        planted.cases.append(("evaluation", Place("evaluation.jsonl", len(evaluation)), place, 1.0))
        text = unicodedata.normalize(form, record["text"])  # type: ignore[arg-type]
        evaluation.append({"text": text})
    evaluation += [{"text": invented_text(rng, "en")} for _ in range(N_EVALUATION_FRESH)]
    return evaluation


def usable_indices(records: list) -> list[int]:
    """Indices of documents long enough to compare, short enough to copy, and unlike the others."""
    texts = [record["text"] if isinstance(record, dict) else "" for record in records]
    n_seen = Counter(texts)
    return [
        i
        for i, text in enumerate(texts)
        if n_seen[text] == 1
        and len(text) <= MAX_COPIED_CHARS
        and len(clean(text)) >= MIN_BASE_CHARS
    ]


def rewrite(rng: random.Random, text: str, language: str, jaccard_goal: float) -> str:
    """Replace one run of words so that the 13-grams of both texts meet the goal roughly.

    If a share s of the 13-grams is replaced, 1 - s of 1 + s remain common.
    """
    words = re.findall(r"\S+\s*", text)
    n_words = round(len(words) * (1 - jaccard_goal) / (1 + jaccard_goal))
    start = rng.randrange(len(words) - n_words + 1)
    words[start : start + n_words] = [w + " " for w in invented_words(rng, language, n_words)]
    return unicodedata.normalize("NFC", "".join(words))


def restyle(text: str) -> str:
    """Change what cleaning undoes: case, ASCII punctuation, white space."""
    return "  " + text.upper().replace(".", " ...").replace("?", "!?").replace(" ", "\t ") + "\n"


def clean(text: str) -> str:
    """Return the text as compared: NFC, lower case, no ASCII punctuation, single spaces."""
    lowered = unicodedata.normalize("NFC", text).lower()
    bare = lowered.translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\s+", " ", bare.strip())


def jaccard(text_a: str, text_b: str) -> float:
    """Return the exact Jaccard similarity of the sets of 13-grams of both cleaned texts."""
    a, b = (
        {cleaned[i : i + SHINGLE_CHARS] for i in range(len(cleaned) - SHINGLE_CHARS + 1)}
        for cleaned in (clean(text_a), clean(text_b))
    )
    return len(a & b) / len(a | b)


def encode(name: str, records: list) -> bytes:
    """Return the bytes of a file in the format of its name."""
    if name.endswith(".parquet"):
        sink = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(records), sink, compression="zstd", row_group_size=32)
        return sink.getvalue()
    lines = [r if isinstance(r, bytes) else msgspec.json.encode(r) for r in records]
    data = b"".join(line + b"\n" for line in lines)
    if name.endswith(".gz"):
        return gzip.compress(data, 6, mtime=0)  # a time in the header would change the bytes
    if name.endswith(".zst"):
        # Several frames in one file, cut anywhere: a reader must go on after the first frame.
        frames = (data[i : i + FRAME_BYTES] for i in range(0, len(data), FRAME_BYTES))
        return b"".join(zstandard.ZstdCompressor(level=3).compress(frame) for frame in frames)
    return data


def replace_file(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_bytes(data)
    os.replace(temporary, path)
