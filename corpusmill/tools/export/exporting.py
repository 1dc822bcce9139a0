"""`corpusmill export`: writes a finished corpus in a format."""

import contextlib
import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from corpusmill.messages.near_names import meant
from corpusmill.messages.progress import Progress
from corpusmill.mill.storage.files import save_plain_json
from corpusmill.mill.storage.sha256 import file_sha256
from corpusmill.mill.storage.untrusted import load_plain_json
from corpusmill.reader.corpus import Corpus
from corpusmill.reader.node_locks import NodeLock
from corpusmill.reader.packed_samples import PackedSamples
from corpusmill.run.config import Output
from corpusmill.tools.export.declaration import Exported, Format, Shard, Split
from corpusmill.tools.export.target import MADE, Target, refuse_links, remove_made

VERSION = 1
RECORD = "export.json"
"""Description of an export, written when it is complete."""
BEGUN = ".export-begun.json"
"""Description of an unfinished export. A later run resumes only an equal one."""
FORMATS = Path(__file__).parent / "formats"


def known_formats() -> list[str]:
    """Return the names of the formats: the modules in formats/."""
    return sorted(p.stem.replace("_", "-") for p in FORMATS.glob("*.py") if p.stem != "__init__")


def format_of(name: str) -> Format:
    if name not in known_formats():
        raise ValueError(f"there is no format {name}.{meant(name, known_formats())}")
    module = importlib.import_module(f"corpusmill.tools.export.formats.{name.replace('-', '_')}")
    return module.FORMAT


def disk_share(names: Sequence[str]) -> float:
    """Return the bytes of exports in these formats, per byte of token shards."""
    return sum(format_of(name).share for name in names)


def opened(results: Path, length: int, packed_to: int | None = None) -> Exported:
    """Open the corpus in a folder. packed_to: length of packed rows; None: consecutive samples."""
    corpus = Corpus(results)
    splits = []
    for name in corpus.splits:
        split = corpus.split(name)
        shards = [Shard(split, number, results) for number in range(len(split.shards.numbers))]
        rows = PackedSamples(split, packed_to) if packed_to and split.documents else None
        splits.append(Split(name, shards, split.tokens, split.documents, rows))
    return Exported(splits, corpus.vocabulary, length)


def packed_length(name: str, length: int) -> int:
    """Return the length in output.pack whose rows are as long as a format's samples."""
    ahead = format_of(name).ahead
    if ahead is None:
        forms = ", ".join(one for one in known_formats() if format_of(one).ahead is not None)
        raise ValueError(
            f"{name} cannot have packed rows. Formats that can: {forms}. Leave out --packed or "
            "output.packed_samples."
        )
    return length + ahead - 1


def faults_of_packing(name: str, length: int, packs: Sequence[int]) -> list[str]:
    """Return why an export would have no packed rows. packs: output.pack."""
    if not format_of(name).samples:
        return []
    try:
        needed = packed_length(name, length)
    except ValueError as error:
        return [f"output.packed_samples: {error}"]
    if needed in packs:
        return []
    return [
        f"output.packed_samples: {name} with samples of {length} tokens needs {needed} in "
        f"output.pack, as a packed row has one token more than its length. Add {needed}."
    ]


def faults_ahead(names: Sequence[str], vocabulary: int | None, output: Output) -> list[str]:
    """Return why exports would fail, as far as that is known before the run.

    vocabulary: number of ids, if known.
    """
    found = []
    for name in names:
        if output.packed_samples:
            found += faults_of_packing(name, output.sample_tokens, output.pack)
        if fault := missing_package(name):
            found.append(f"output.exports: {fault}")
        if vocabulary is not None:
            fault = fault_of_vocabulary(name, vocabulary, vocabulary > 1 << 16)
            found += [f"output.exports: {fault}"] if fault else []
    return found


def missing_package(name: str) -> str | None:
    needs = format_of(name).needs
    if needs is None or importlib.util.find_spec(needs):
        return None
    return f"{name} needs the package {needs}, which is not installed: pip install {needs}"


def fault_of_vocabulary(name: str, size: int, is_wide: bool) -> str | None:
    """Return why the format cannot store so many ids. is_wide: ids have 32 bits."""
    if not (format_of(name).uint16_alone and is_wide):
        return None
    return (
        f"{name} has 16-bit ids: expected a vocabulary of at most 65,536 tokens, found {size:,}. "
        "Use a tokenizer with a smaller vocabulary, or a different format."
    )


def faults(name: str, exported: Exported) -> list[str]:
    """Return why the format cannot store the corpus, or cannot be written here."""
    form, vocabulary = format_of(name), exported.vocabulary
    wide = fault_of_vocabulary(name, vocabulary.size, vocabulary.dtype.itemsize > 2)
    found = [fault for fault in (missing_package(name), wide) if fault]
    for split in exported.splits:
        most = max((shard.tokens for shard in split.shards), default=0)
        if form.most_tokens is not None and most > form.most_tokens:
            found.append(
                f"{name}: expected shards of at most {form.most_tokens:,} tokens, found one "
                f"of {most:,} in the split {split.name}. Lower output.shard_bytes, and mill again."
            )
        if form.samples and split.packed is None and 0 < split.tokens < exported.length:
            found.append(
                f"length {exported.length:,}: {split.name} has {split.tokens:,} tokens, too few "
                "for one sample. Choose a smaller length."
            )
    return found


class Exporting:
    """An export of the results of a finished run into a folder."""

    def __init__(
        self, name: str, results: Path, folder: Path, length: int, packed: bool = False
    ) -> None:
        """Prepare the export. Raise ValueError if the format cannot store the corpus. packed: of
        the rows of output.pack, in place of consecutive samples."""
        self.format = format_of(name)
        self.exported = opened(results, length, packed_length(name, length) if packed else None)
        if found := faults(name, self.exported):
            raise ValueError("\n".join(found))
        self.results, self.folder = results, folder
        self.bytes = sum(shard.bytes for shard in self.exported.shards)
        self._what = {
            "corpusmill.export": VERSION,
            "format": name,
            "manifest_sha256": load_plain_json(results / "manifest.json").get("sha256"),
            "length": length if self.format.samples else None,
            "rows": "packed" if packed else None,  # None as in exports of earlier versions
        }

    def write(self, progress: Progress) -> dict[str, Any]:
        """Write all missing files and return the record of the export."""
        refuse_links(self.folder, self.results)
        done = finished(self.folder, self._what)
        if done is not None:
            return done
        with alone_in(self.folder):
            begin(self.folder, self._what)
            target = Target(self.folder, progress)
            self.format.write(self.exported, target)
            return finish(target, self._what, self.exported)


def finished(folder: Path, what: dict[str, Any]) -> dict[str, Any] | None:
    """Return the record of an export that is complete. Raise ValueError if the folder has something
    else."""
    record = folder / RECORD
    if record.exists():
        there = load_plain_json(record)
        if {key: there.get(key) for key in what} == what:
            return there
        other = [key for key in what if there.get(key) != what[key]]
        differs = ", ".join(f"{key} {there.get(key)}" for key in other)
        raise ValueError(
            f"{folder}: expected an empty folder or an export with the same settings, found an "
            f"export with {differs}. An export replaces no files: remove the existing export, or "
            "name a different folder with --to."
        )
    if not (folder / BEGUN).exists():
        refuse_files(folder)
    return None


def refuse_files(folder: Path) -> None:
    if folder.exists() and any(path.name[0] != "." for path in folder.iterdir()):
        raise ValueError(
            f"{folder}: expected an empty folder, found files in it. An export replaces no files: "
            "name a different folder with --to."
        )


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Lock the folder. Raise ValueError if another process exports into it."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = NodeLock(folder / MADE)
    try:
        if not lock.alone():
            raise ValueError(
                f"{folder}: another export into this folder is in progress. Wait until that "
                "export ends, or name a different folder with --to."
            )
        yield
    finally:
        lock.close()


def begin(folder: Path, what: dict[str, Any]) -> None:
    """Begin or resume an export. Files of a different unfinished export are removed. Raise
    ValueError if there are other files."""
    begun = folder / BEGUN
    if begun.exists() and load_plain_json(begun) == what:
        return
    remove_made(folder)
    begun.unlink(missing_ok=True)
    refuse_files(folder)
    save_plain_json(begun, what)


def finish(target: Target, what: dict[str, Any], exported: Exported) -> dict[str, Any]:
    files = []
    for name in target.names:
        path = target.folder / name
        files.append({"path": name, "bytes": path.stat().st_size, "sha256": file_sha256(path)})
    splits = {s.name: {"documents": s.documents, "tokens": s.tokens} for s in exported.splits}
    record = what | {"splits": splits, "files": files}
    save_plain_json(target.folder / RECORD, record)
    (target.folder / BEGUN).unlink()
    (target.folder / MADE).unlink()
    return record
