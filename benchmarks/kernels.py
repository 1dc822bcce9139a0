"""Speed and peak memory of every kernel and library stage, each alone on one core.

    python benchmarks/kernels.py --corpus DIR [--tokenizer DIR] [--stage sign]

Each measurement is a process. It prepares the input of the stage, runs it once on a little (to
compile kernels and load libraries), then times it. Bytes are bytes of document text.
"""

import functools
import glob
import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from benchmarks.measuring import ROOT, child, on_cores, parser, shown, timed
from benchmarks.run_folder import RunFolder

SLOW_BYTES = 4_000_000  # input of the slow stages
BLOCK_CHARS = 1 << 16


class Work(NamedTuple):
    """A prepared stage."""

    run: Callable[[], object]
    amount: float
    unit: str = "MB"


class Sample(NamedTuple):
    """Documents of a corpus, and a working folder."""

    files: list[str]
    limit: int  # bytes of text
    folder: Path
    tokenizer: str | None
    pieces: int  # documents or pairs, for stages without texts

    def texts(self) -> list[str]:
        return [text for text, _ in self.records()]

    def records(self) -> list[tuple[str, bytes]]:
        from corpusmill.mill.read.readers import read_records
        from corpusmill.mill.read.records import Record
        from corpusmill.run.job_progress import Phase

        found, held = [], 0
        for path in self.files:
            for record in read_records(path, "text", Phase("", 0, "MB")):
                if held >= self.limit:
                    return found
                if isinstance(record, Record):
                    found.append((record.text, record.rest))
                    held += len(record.text.encode())
        return found

    def part(self) -> tuple[Path, int]:
        """Return a text part of the documents, and their bytes of text."""
        from corpusmill.mill.read.parts import TextWriter
        from corpusmill.mill.storage.files import writing

        path = self.folder / f"{self.limit}.arrow"
        size = 0
        with writing(path) as file:
            writer = TextWriter(file, [{"source": "corpus", "path": "corpus"}])
            for line, (text, rest) in enumerate(self.records()):
                writer.add(text.encode(), rest, 0, line)
                size += len(text.encode())
            writer.close()
        return path, size

    def columns(self) -> tuple[list, int]:
        """Return the texts as kernels get them, in batches, and their bytes."""
        from corpusmill.mill.read.parts import TextPart
        from corpusmill.mill.read.text_column import TextColumn

        path, size = self.part()
        return [TextColumn.of(b.column("text")) for b in TextPart(path, ["text"]).batches()], size


def digest_of(result: object) -> str:
    """Return a digest of arrays, bytes, strings, numbers, paths of files, and lists of these."""
    digest = hashlib.sha256()
    for value in result if isinstance(result, list | tuple) else [result]:
        if isinstance(value, Path):
            value = value.read_bytes()
        elif isinstance(value, list | tuple):
            value = digest_of(value).encode()
        elif isinstance(value, str | int):
            value = str(value).encode()
        digest.update(memoryview(value).cast("B") if len(memoryview(value)) else b"")
    return digest.hexdigest()[:16]


@functools.cache
def step(name: str):
    """Load scripts/<name>.py, without Snakemake."""
    import importlib.util

    spec = importlib.util.spec_from_file_location(f"step_{name}", ROOT / f"scripts/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


STAGES: dict[str, Callable[[Sample], Work]] = {}


def stage(prepare: Callable[[Sample], Work]) -> Callable[[Sample], Work]:
    STAGES[prepare.__name__] = prepare
    return prepare


def decoded_blocks(files: list[str]) -> Iterator[bytes]:
    import zstandard

    for path in files:
        with open(path, "rb") as file:
            frame = zstandard.ZstdDecompressor().decompressobj()
            while block := file.read(1 << 18):
                yield frame.decompress(block)


def lines_of(sample: Sample) -> list[bytes]:
    import msgspec

    return [
        b'{"text":%s%s%s}' % (msgspec.json.encode(text), b"," if rest else b"", rest)
        for text, rest in sample.records()
    ]


@stage
def decode_zstd(sample: Sample) -> Work:
    """Decompress. Counts bytes of JSON, not of text."""
    import zstandard

    lines = lines_of(sample)
    path = sample.folder / "lines.zst"
    path.write_bytes(zstandard.compress(b"\n".join(lines)))
    return Work(
        lambda: sum(map(len, decoded_blocks([str(path)]))), sum(map(len, lines)) + len(lines)
    )


@stage
def parse_json(sample: Sample) -> Work:
    import msgspec

    from corpusmill.mill.read.json_records import joined_members

    members = msgspec.json.Decoder(dict[str, msgspec.Raw])
    string = msgspec.json.Decoder(str)
    lines = lines_of(sample)

    def run() -> int:
        chars = 0
        for line in lines:
            found = members.decode(line)
            chars += len(string.decode(found.pop("text")))
            joined_members(found)
        return chars

    return Work(run, sum(len(text.encode()) for text in sample.texts()))


@stage
def read_records(sample: Sample) -> Work:
    """Read zstd, lines and JSON as in `normalize`."""
    import zstandard

    from corpusmill.mill.read import readers
    from corpusmill.run.job_progress import Phase

    path = sample.folder / "lines.jsonl.zst"
    path.write_bytes(zstandard.compress(b"\n".join(lines_of(sample)) + b"\n"))
    size = sum(len(text.encode()) for text in sample.texts())
    return Work(
        lambda: sum(
            len(record.text)
            for record in readers.read_records(str(path), "text", Phase("", 0, "MB"))
        ),
        size,
    )


@stage
def nfc(sample: Sample) -> Work:
    from corpusmill.mill.read.normalization import normalizer

    mend, texts = normalizer("nfc"), sample.texts()
    return Work(lambda: sum(len(mend(text)) for text in texts), sum(len(t.encode()) for t in texts))


@stage
def write_text_part(sample: Sample) -> Work:
    from corpusmill.mill.read.parts import TextWriter

    records = [(text.encode(), rest) for text, rest in sample.records()]
    path = sample.folder / "written.arrow"

    def run() -> Path:
        writer = TextWriter(path, [])
        for line, (text, rest) in enumerate(records):
            writer.add(text, rest, 0, line)
        writer.close()
        return path

    return Work(run, sum(len(text) for text, _ in records))


@stage
def read_text_part(sample: Sample) -> Work:
    from corpusmill.mill.read.parts import TextPart
    from corpusmill.mill.read.text_column import TextColumn

    path, size = sample.part()

    def run() -> int:
        batches = TextPart(path, ["text"]).batches()
        return sum(int(TextColumn.of(batch.column("text")).sizes().sum()) for batch in batches)

    return Work(run, size)


@stage
def clean(sample: Sample) -> Work:
    import numpy as np

    from corpusmill.kernels.clean import count_cleaned
    from corpusmill.mill.read.unicode_tables import character_table

    columns, size = sample.columns()
    table = character_table()
    counts = [np.empty(column.sizes().size, np.uint32) for column in columns]

    def run() -> list:
        for column, count in zip(columns, counts, strict=True):
            count_cleaned(column.data, column.offsets, table, count)
        return counts

    return Work(run, size)


def cleaned_blocks(sample: Sample) -> tuple[list, int]:
    """Return cleaned code points in blocks of BLOCK_CHARS, and the bytes of their texts."""
    import numpy as np

    from corpusmill.kernels.clean import clean_text
    from corpusmill.mill.read.unicode_tables import character_table

    columns, size = sample.columns()
    found = []
    for column in columns:
        for start, stop in zip(column.offsets[:-1], column.offsets[1:], strict=True):
            chars = np.empty(stop - start + 4, np.uint32)
            n = clean_text(column.data, start, stop, character_table(), chars)
            found.append(chars[:n])
    points = np.concatenate(found)
    return [points[i : i + BLOCK_CHARS] for i in range(0, points.size, BLOCK_CHARS)], size


@stage
def rolling_hashes(sample: Sample) -> Work:
    """Hash 13 characters each, over blocks of 65,536 cleaned characters."""
    import numpy as np

    from corpusmill.kernels import shingles

    blocks, size = cleaned_blocks(sample)
    hashes = [np.empty(block.size, np.uint32) for block in blocks]

    def run() -> list:
        for block, found in zip(blocks, hashes, strict=True):
            shingles.rolling_hashes(block, block.size - 1, 13, found)
        return [found[: found.size - 13] for found in hashes]

    return Work(run, size)


@stage
def lower_affine32(sample: Sample) -> Work:
    """Find the least image under 128 permutations; hashes are given."""
    import numpy as np

    from corpusmill.kernels import sketch
    from corpusmill.mill.dedup.minhash import permutations_of

    blocks, size = cleaned_blocks(sample)
    a, b = permutations_of("affine32", 128, 1)
    signatures = np.empty((len(blocks), 128), np.uint32)

    def run() -> np.ndarray:
        signatures.fill(0xFFFFFFFF)
        for block, signature in zip(blocks, signatures, strict=True):
            sketch.lower_affine32(block, block.size, a, b, signature)
        return signatures

    return Work(run, size)


def signing(scheme: str) -> Callable[[Sample], Work]:
    def prepare(sample: Sample) -> Work:
        import numpy as np

        from corpusmill.mill.dedup.lsh import sorted_bands
        from corpusmill.mill.dedup.minhash import MinHasher
        from corpusmill.mill.read.parts import TextPart
        from corpusmill.mill.read.text_column import TextColumn

        path, size = sample.part()
        hasher = MinHasher(scheme, 128, 13, 1)

        def run() -> Path:
            tables = [
                hasher.sign(TextColumn.of(batch.column("text")))
                for batch in TextPart(path, ["text"]).batches()
            ]
            table = np.concatenate(tables)
            rows = np.arange(len(table), dtype=np.uint32)
            sorted_bands(table, rows, 9, 13, sample.folder / "bands.npy")
            return sample.folder / "bands.npy"

        return Work(run, size)

    return prepare


@stage
def sketch_affine32(sample: Sample) -> Work:
    """Make sorted band keys on disk from the text part: 128 permutations, 9 bands of 13."""
    return signing("affine32")(sample)


@stage
def sketch_legacy(sample: Sample) -> Work:
    """Do the same with SHA-1 shingles, as datasketch 1 and SlimPajama do."""
    return signing("legacy")(sample._replace(limit=min(sample.limit, SLOW_BYTES)))


@stage
def sha256(sample: Sample) -> Work:
    columns, size = sample.columns()
    return Work(lambda: [step("sign").digests_of(column) for column in columns], size)


def random_signatures(documents: int):
    """Return sketches; one in four repeats an earlier one."""
    import numpy as np

    rng = np.random.default_rng(1)
    table = rng.integers(0, 1 << 32, (documents, 128), dtype=np.uint32)
    copies = rng.integers(1, documents, documents // 4) if documents > 1 else np.zeros(0, int)
    table[copies] = table[rng.integers(0, documents, copies.size) % copies]
    return table


@stage
def band_keys(sample: Sample) -> Work:
    """Sort and write keys of 9 bands of random sketches, without text."""
    import numpy as np

    from corpusmill.mill.dedup.lsh import sorted_bands

    documents = max(1, sample.pieces // 32)
    table = random_signatures(documents)
    rows, path = np.arange(documents, dtype=np.uint32), sample.folder / "bands.npy"

    def run() -> Path:
        sorted_bands(table, rows, 9, 13, path)
        return path

    return Work(run, documents, "documents")


@stage
def pairs(sample: Sample) -> Work:
    """Find pairs of 9 bands of 8 parts, a pair job at a time, without text."""
    import numpy as np

    from corpusmill.mill.dedup.candidates import same_key_edges
    from corpusmill.mill.dedup.lsh import Bands, sorted_bands
    from corpusmill.mill.storage.buckets import bucket_slices

    table = random_signatures(max(8, sample.pieces // 32))
    parts, per_part = [], len(table) // 8
    for part in range(8):
        path = sample.folder / f"bands{part}.npy"
        rows = np.arange(per_part, dtype=np.uint32)
        sorted_bands(table[part * per_part :][:per_part], rows, 9, 13, path)
        parts.append(Bands(part, path))
    slices = bucket_slices(0, 1, 9)
    return Work(
        lambda: [same_key_edges(parts, share) for share in slices], 9 * 8 * per_part, "band keys"
    )


@stage
def jaccard(sample: Sample) -> Work:
    """Compute the exact similarity of neighbours: two shingle sets and their intersection for
    each."""
    import numpy as np

    from corpusmill.kernels.similarity import Texts, measure_pairs
    from corpusmill.mill.read.unicode_tables import character_table

    columns, size = sample.columns()

    def run() -> list[np.ndarray]:
        found = []
        for column in columns:
            half = (column.offsets.size - 1) // 2
            pairs = np.arange(2 * half).reshape(half, 2)
            values = np.empty(len(pairs))
            begins, stops = column.offsets[:-1], column.offsets[1:]
            texts = Texts(column.data, begins, stops, character_table(), 13)
            measure_pairs(pairs, 0, texts, values)
            found.append(values)
        return found

    return Work(run, size)


@stage
def equal_values(sample: Sample) -> Work:
    """Compare all pairs of sketches of 128 values, without text."""
    import numpy as np

    from corpusmill.kernels.similarity import count_pairs

    table = random_signatures(max(2, int((sample.pieces / 8) ** 0.5)))
    counts = np.zeros(129, np.int64)

    def run() -> np.ndarray:
        counts.fill(0)
        count_pairs(table, counts)
        return counts

    return Work(run, len(table) * (len(table) - 1) // 2, "pairs")


@stage
def union_find_repeated(sample: Sample) -> Work:
    """Join pairs of near documents that occur nine times, as in several bands."""
    import numpy as np

    from corpusmill.mill.dedup import components

    documents = max(200, sample.pieces // 2)
    rng = np.random.default_rng(3)
    first = rng.integers(0, documents - 100, max(1, sample.pieces // 9), dtype=np.uint64)
    found = np.column_stack([first, first + rng.integers(1, 100, first.size, dtype=np.uint64)])
    starts = np.array([0, documents], np.int64)
    return Work(lambda: components.union_find([found] * 9, starts), 9 * len(found), "pairs")


@stage
def union_find(sample: Sample) -> Work:
    """Join random pairs of half as many documents, in one part."""
    import numpy as np

    from corpusmill.mill.dedup import components

    documents = max(2, sample.pieces // 2)
    rng = np.random.default_rng(2)
    found = rng.integers(0, documents, (sample.pieces, 2), dtype=np.uint64)
    starts = np.array([0, documents], np.int64)
    return Work(lambda: components.union_find([found], starts), sample.pieces, "pairs")


SHARDS = 8


def scattering(sample: Sample, shards: int = SHARDS) -> tuple[Callable[[], Path], int]:
    """Read a text part, sort its rows by shard, write the slices."""
    import numpy as np

    from corpusmill.messages.progress import Silence
    from corpusmill.mill.read.ids import ids_of_part
    from corpusmill.mill.read.parts import TextPart
    from corpusmill.mill.shuffle.scattering import write_scattered
    from corpusmill.mill.shuffle.targets import emissions

    path, size = sample.part()
    rows = TextPart(path, ["line"]).column("line").size
    ids = ids_of_part(0, rows)

    def run() -> Path:
        copies = {"train": np.ones(rows, np.uint16)}
        emitted = emissions(ids, copies, {"train": shards}, {"train": 42})
        write_scattered(
            sample.folder / "scattered", sample.folder / "index.npy", path, 0, emitted, shards,
            Silence(),
        )  # fmt: skip
        return sample.folder / "scattered"

    return run, size


def gathering(sample: Sample, shards: range) -> Callable[[], list[Path]]:
    """Read the slices of these shards, sort them, write the shards."""
    from corpusmill.mill.shuffle.scattering import ShardRows
    from corpusmill.mill.shuffle.text_shards import write_shard
    from corpusmill.mill.storage.files import writing
    from corpusmill.run.job_progress import Phase

    parts = [{"data": sample.folder / "scattered", "index": sample.folder / "index.npy"}]
    texts = [sample.folder / f"{shard:05d}.jsonl.zst" for shard in shards]

    def run() -> list[Path]:
        for shard, text in zip(shards, texts, strict=True):
            progress = Phase("", 0, "documents")
            rows, order = ShardRows.read(parts, shard, progress)
            with writing(text, kept=True) as file:
                write_shard(file, None, rows, order, progress)
        return texts

    return run


@stage
def scatter(sample: Sample) -> Work:
    """Read a text part, sort its rows by shard, write 8 slices."""
    run, size = scattering(sample)
    return Work(run, size)


@stage
def gather(sample: Sample) -> Work:
    """Read 8 slices, sort each, write each as jsonl.zst."""
    run, size = scattering(sample)
    run()
    return Work(gathering(sample, range(SHARDS)), size)


def kept_tokenizer(sample: Sample) -> Path:
    from corpusmill.mill.tokens.tokenizer_folder import keep_tokenizer

    folder = sample.folder / "tokenizer"
    if not folder.exists():
        keep_tokenizer(folder, sample.tokenizer, "<|endoftext|>", "auto")
    return folder


@stage
def encode(sample: Sample) -> Work:
    """Run the whole step: from a scatter file to .bin on disk, one shard."""
    from corpusmill.mill.storage.files import save_json
    from corpusmill.mill.tokens.token_shards import TokenFiles

    folder = kept_tokenizer(sample)
    write, size = scattering(sample, shards=1)
    counts = sample.folder / "counts.json"
    save_json(counts, {"data": str(write()), "index": f"{sample.folder}/index.npy"})
    outputs = {name: sample.folder / f"0.{name}" for name in ("bin", "idx", "facts", "placements")}

    def run() -> Path:
        files = TokenFiles(*(outputs[name] for name in TokenFiles._fields))
        step("encode").encode(
            [counts], "train", 0, {"train": 1}, folder, files, outputs["placements"]
        )
        return outputs["bin"]

    return Work(run, size)


def encoding(sample: Sample, with_engine: bool) -> Work:
    """Encode texts in memory to ids in memory."""
    import numpy as np

    from corpusmill.mill.tokens.tokenizers import (
        TokenizerFacts,
        encoder_of,
        load_kept,
        reference_encoder,
    )

    folder = kept_tokenizer(sample)
    sample = sample._replace(limit=min(sample.limit, SLOW_BYTES))
    texts = [text.encode() for text in sample.texts()]
    setting = TokenizerFacts.load(folder)
    engine = (
        encoder_of(folder, setting)
        if with_engine
        else reference_encoder(load_kept(folder, setting))
    )
    return Work(lambda: np.concatenate(engine(texts)), sum(map(len, texts)))


@stage
def encode_texts(sample: Sample) -> Work:
    """Run only the engine, on the sample of the reference."""
    return encoding(sample, with_engine=True)


@stage
def encode_texts_reference(sample: Sample) -> Work:
    """Run `tokenizers` with one thread."""
    return encoding(sample, with_engine=False)


GROUPS = {"encode_texts_reference": "encode_texts"}
"""Stages that do the same work as another."""

NEED_TOKENIZER = {"encode", "encode_texts", "encode_texts_reference"}


def measure(name: str, files: list[str], limit: int, pieces: int, tokenizer: str | None) -> dict:
    on_cores(1)
    with tempfile.TemporaryDirectory() as folder:
        sample = Sample(files, limit, Path(folder), tokenizer, pieces)
        STAGES[name](sample._replace(limit=500_000, pieces=1000)).run()
        work = STAGES[name](sample)
        figures, result = timed(work.run)
        return figures | {
            "amount": work.amount, "unit": work.unit, "output": digest_of(result)
        }  # fmt: skip


def command_of(given, name: str) -> list:
    command = [sys.executable, __file__, "--corpus", given.corpus, "--megabytes", given.megabytes,
               "--pieces", given.pieces, "--stage", name]  # fmt: skip
    return command + (["--tokenizer", given.tokenizer] if given.tokenizer else [])


def measure_all(given) -> None:
    run_folder = RunFolder(given.run_folder)
    for name in given.stage or STAGES:
        if name in NEED_TOKENIZER and not given.tokenizer:
            continue
        for run in range(given.runs):
            found = child(
                [*command_of(given, name), "--here"],
                TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="1",
            )  # fmt: skip
            meaning = (STAGES[name].__doc__ or "").strip()
            run_folder.record(
                "kernels", f"`{name}` {meaning}".strip(), group=GROUPS.get(name, name), run=run,
                command=shown(command_of(given, name)), **found,
            )  # fmt: skip
    run_folder.note(
        "kernels",
        "One process on one core each; `python benchmarks/kernels.py --stage NAME` runs one. Peak "
        "memory is that of the whole process while the stage runs, its input included.",
    )
    run_folder.close()


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--corpus", type=Path, required=True)
    arguments.add_argument("--tokenizer", help="a folder that transformers loads")
    arguments.add_argument("--megabytes", type=float, default=64, help="of text, per stage")
    arguments.add_argument("--pieces", type=int, default=16_000_000, help="pairs, per stage")
    arguments.add_argument("--stage", action="append", choices=STAGES, help="only this one")
    arguments.add_argument("--here", action="store_true", help="measure --stage in this process")
    given = arguments.parse_args()
    if given.here:
        files = sorted(glob.glob(f"{given.corpus}/*.jsonl.zst"))
        (name,) = given.stage
        limit = int(given.megabytes * 1e6)
        print(json.dumps(measure(name, files, limit, given.pieces, given.tokenizer)))
    else:
        measure_all(given)
