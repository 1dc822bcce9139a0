"""Rebuilds a part, from its input files to its rows of the ledger.

Only facts that depend on other parts are taken from the results: which spans occurred first
elsewhere, which documents are duplicates of which, whether enough sources have them, and which are
held out elsewhere.
"""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from corpusmill.mill.account.ledger_columns import columns_of_copies, copies_of_rows, kept_rows
from corpusmill.mill.decide.candidates import NO_CELL, CopiesOfPart, save_copies
from corpusmill.mill.decide.decided import save_marks
from corpusmill.mill.decide.fates import FEW_SOURCES
from corpusmill.mill.decide.holdout import ORIGINS
from corpusmill.mill.dedup.edges import DROPPED, STAGES, WINNERS
from corpusmill.mill.read.ids import ROW_BITS, ROW_MASK
from corpusmill.mill.read.parts import TextPart
from corpusmill.mill.read.spans import spans_of, units_of
from corpusmill.mill.read.text_column import TextColumn
from corpusmill.mill.storage.arrays import save_array
from corpusmill.mill.storage.files import load_json, save_json
from corpusmill.mill.storage.sha256 import file_sha256
from corpusmill.run.typed import as_given
from corpusmill.tools.prove.run import Finished

FILES = {
    "quarantine": "quarantine/{}.jsonl",
    "cut_text": "cut/{}.arrow",
    "record": "cut/{}.parquet",
    "measures": "measures/{}.arrow",
    "verdicts": "filter/{}.arrow",
    "signatures": "signatures/{}.npy",
    "digests": "digests/{}.npy",
    "assigned": "assign/{}.arrow",
    "held_out": "holdout/{}.npy",
    "clusters": "clusters/{}.parquet",
    "marks": "holdout/{}.arrow",
    "rows": "ledger/{}.parquet",
    "account": "ledger/{}.json",
}
"""Maps an argument of the steps to a file of the part. Other arguments differ from step to step."""

BESIDE = ("text/{}.arrow", "cut/{}.arrow", "edited/{}.arrow", "measures/{}.arrow",
          "filter/{}.arrow", "digests/{}.npy")  # fmt: skip
"""Files that are compared too if the run has kept them."""


class ChangedError(Exception):
    """The part cannot be rebuilt: an input or results file has changed, which is reported."""


class PartAgain:
    """Rebuilds a part file by file."""

    def __init__(self, run: Finished, part: int) -> None:
        self._run, self.part = run, part
        self.name = f"{part:05d}"
        self.files = [file.path for file in run.layout.inputs.parts[part].files]

    def path(self, pattern: str) -> Path:
        """Return the path of a rebuilt file of the part."""
        return self._run.scratch / pattern.format(self.name)

    def below(self, pattern: str) -> Path:
        """Map a path from the working directory, as in the layout, to the rebuilt file."""
        return self.path(pattern.removeprefix("results/").format(part=self.name))

    def _step(self, name: str, **given: Any) -> None:
        """Run a step on the part. given: all but FILES, the part and the final texts."""
        files = {argument: self.path(pattern) for argument, pattern in FILES.items()}
        self._run.step(name, **{"part": self.part, "text": self.text, **files, **given})

    def _of_cuts(self, suffix: str) -> list[Path]:
        patterns = [f"results/{folder}/{{part}}{suffix}" for folder in ("cut", "edited")]
        return [self.below(pattern) for pattern in self._run.layout.of_cuts(*patterns)]

    @property
    def text(self) -> Path:
        """Return the texts that all steps after the filters read."""
        return self.below(self._run.layout.text)

    def texts(self) -> None:
        """Rebuild the final texts from the input files. Raise ChangedError if inputs differ,
        FileNotFoundError if they are missing."""
        self._normalize()
        if self._run.layout.cuts_spans:
            self._cut()
        if self._run.layout.edits:
            self._measure()

    def decisions(self) -> None:
        """Rebuild the rows of the ledger."""
        if not self._run.layout.edits:
            self._measure()
        settings = self._run.settings
        self._step("filter", filters=settings.deciding, counts=self.path("filter/{}.json"))
        # Sketches are not made: the duplicates come from the results.
        self._step("sign", hasher=settings.hasher | {"permutations": 0})
        self._assign()
        self._mark()
        self._step(
            "ledger", counts=self.path("text/{}.json"), cuts=self._of_cuts(".json"),
            cut_spans=self._of_cuts(".parquet"), whole=self._of_cuts(".npy"),
            filters=settings.filter_values, mixed=self._mixed(),
            stages=[stage.name for stage in self._run.config.stages],
        )  # fmt: skip

    def _normalize(self) -> None:
        config, inputs = self._run.config, self._run.layout.inputs
        part = SimpleNamespace(part=self.part)
        counts = self.path("text/{}.json")
        self._step(
            "normalize", files=inputs.states_of_part(part), normalizing=as_given(config.normalize),
            readers=config.input.readers, limits=config.input.read_limits,
            most_text_bytes=inputs.most_text_bytes(part), text=self.path("text/{}.arrow"),
            counts=counts,
        )  # fmt: skip
        known = {one["path"]: one for one in self._run.listing.content["inputs"]}
        changed = [one for one in load_json(counts)["files"] if one != known.get(one["path"])]
        for one in changed:
            expected = known[one["path"]]
            self._run.findings.changed_input(
                one["path"],
                f"expected {expected['bytes']:,} bytes with SHA-256 {expected['sha256']}, as "
                f"when the run read it, found {one['bytes']:,} with {one['sha256']}",
            )
        if changed:
            raise ChangedError

    def _evidence(self, name: str) -> Path:
        """Return a results file that decisions are taken from."""
        if not self._run.kept(name):
            raise ChangedError
        return self._run.results / name

    def _cut(self) -> None:
        """Cut by the record of cuts, without checking whether others had the spans first."""
        record = pq.read_table(self._evidence(f"cut/{self.name}.parquet"))
        repeats = np.stack([record[name].to_numpy() for name in ("id", "start", "key", "first")])
        rows = (repeats[0] & np.uint64(ROW_MASK)).astype(np.int64)
        repeats[1] = np.concatenate(
            [np.zeros(0, np.uint64), *self._first_units(rows, repeats[1], repeats[2])]
        )
        bucket, listing = self.path("repeats/{}.npy"), self.path("repeats/{}.json")
        save_array(bucket, repeats)
        save_json(listing, {"file": str(bucket)})
        self._step(
            "cut", text=self.path("text/{}.arrow"), listing=[listing], span=self._run.settings.span,
            whole=self.path("cut/{}.npy"), counts=self.path("cut/{}.json"),
        )  # fmt: skip

    def _first_units(
        self, rows: np.ndarray, starts: np.ndarray, keys: np.ndarray
    ) -> Iterator[np.ndarray]:
        """Yield the first unit of every recorded span. Raise ChangedError if it does not exist or
        its key differs."""
        span, done = self._run.settings.span, 0
        for batch in TextPart(self.path("text/{}.arrow"), ["text"]).batches():
            column = TextColumn.of(batch.column("text"))
            mine = slice(*np.searchsorted(rows, [done, done + batch.num_rows]))
            of_batch, units = rows[mine] - done, units_of(column, span["unit"])
            begins = column.offsets[of_batch] + starts[mine].astype(np.int64)
            heads = np.searchsorted(units.starts, begins)
            wanted = np.zeros(batch.num_rows, bool)
            wanted[of_batch] = True
            found, places = spans_of(column, units, span["width"], span["min_chars"], wanted)
            known = dict(zip(places.tolist(), found.tolist(), strict=True))
            asked = (of_batch << 32 | heads - units.first[of_batch]).tolist()
            if [known.get(place) for place in asked] != keys[mine].tolist():
                told = "has spans that are not in the texts, or that have other keys"
                self._run.findings.damage(f"cut/{self.name}.parquet", told)
                raise ChangedError
            yield (heads - units.first[of_batch]).astype(np.uint64)
            done += batch.num_rows

    def _measure(self) -> None:
        layout = self._run.layout
        of_edits = {
            "edited": "edited/{}.arrow", "edits": "edited/{}.parquet",
            "unedited": "edited/{}.npy", "edit_counts": "edited/{}.json",
        }  # fmt: skip
        self._step(
            "measure", text=self.below(layout.text_to_measure),
            filters=self._run.settings.measuring,
            prefer=as_given(self._run.config.dedup.prefer),
            members=self._run.config.members,
            **{name: [self.path(one)] * layout.edits for name, one in of_edits.items()},
        )  # fmt: skip

    def _assign(self) -> None:
        """Assign fates with the duplicates from results/clusters."""
        kept = pq.read_table(self._evidence(f"clusters/{self.name}.parquet"))
        dropped = np.zeros(kept.num_rows, DROPPED)
        numbers = {name: number for number, name in STAGES.items()}
        dropped["id"], dropped["winner"] = kept["id"].to_numpy(), kept["winner"].to_numpy()
        similarity = [np.nan if one is None else one for one in kept["similarity"].to_pylist()]
        dropped["similarity"] = np.array(similarity, np.float32)
        dropped["stage"] = [numbers[name] for name in kept["stage"].to_pylist()]
        table, listing = self.path("resolved/{}.npy"), self.path("resolved/{}.json")
        save_array(table, dropped)
        winners = self.path("resolved/{}.winners.npy")
        save_array(winners, self._winners())
        save_json(listing, {"file": str(table), "winners": str(winners)})
        self._step(
            "assign", whole=self._of_cuts(".npy"), resolved=[listing],
            sampling=self._run.settings.sampling, agreement=self._run.settings.agreement,
            counts=self.path("assign/{}.json"),
        )  # fmt: skip

    def _winners(self) -> np.ndarray:
        """Return WINNERS: the documents that enough sources have, according to the ledger."""
        columns = ["id", "fate"]
        ledger = pq.read_table(self._evidence(f"ledger/{self.name}.parquet"), columns=columns)
        agreed = pc.and_(pc.is_valid(ledger["id"]), pc.not_equal(ledger["fate"], FEW_SOURCES))
        ids = ledger.filter(agreed)["id"].to_numpy()
        ids = ids[ids < np.uint64(self.part << ROW_BITS | self.documents)]
        found = np.zeros(ids.size, WINNERS)
        found["id"], found["sources"] = ids, self._run.config.dedup.min_sources
        return found

    def _mixed(self) -> list[Path]:
        """Return the copies of the mixture, according to the ledger; none without a mixture."""
        if not self._run.layout.mixes:
            return []
        stages = [stage.name for stage in self._run.config.stages]
        path = self._evidence(f"ledger/{self.name}.parquet")
        kept = kept_rows(pq.read_table(path, columns=columns_of_copies(stages)))
        ids, of_splits = kept["id"].to_numpy(), copies_of_rows(kept, stages)
        mixed = {split: of_splits[split] for split in self._run.layout.mixed_splits}
        used = np.any([one > 0 for one in mixed.values()], axis=0)
        used &= ids < np.uint64(self.part << ROW_BITS | self.documents)
        path = self.path("copies/{}.arrow")
        # The ledger has no cells, and no part needs them.
        of_part = CopiesOfPart(
            ids[used],
            {name: one[used] for name, one in mixed.items()},
            {name: np.full(int(used.sum()), NO_CELL) for name in mixed},
        )
        save_copies(path, self.part, [of_part], list(mixed))
        return [path]

    def _mark(self) -> None:
        """Mark the documents that are contaminated according to the ledger."""
        ledger = pq.read_table(
            self._evidence(f"ledger/{self.name}.parquet"), columns=["id", "held_out_by"]
        )
        numbers = {name: number for number, name in ORIGINS.items()}
        origins = np.zeros(self.documents, np.uint8)
        for id, origin in zip(*(column.to_pylist() for column in ledger.columns), strict=True):
            if origin is not None and id is not None and id & ROW_MASK < origins.size:
                origins[id & ROW_MASK] = numbers.get(origin, 0)
        save_marks(self.path(FILES["marks"]), self.part, [origins])

    def kept_files(self) -> list[str]:
        """Return the rebuilt files of the part that the results contain."""
        quarantine, *tables = (self.path(FILES[n]) for n in ("quarantine", "clusters", "rows"))
        made = [quarantine, *self._of_cuts(".parquet"), *tables]
        return [str(path.relative_to(self._run.scratch)) for path in made]

    def left_files(self) -> list[str]:
        """Return the rebuilt intermediate files that still exist in the results."""
        names = [pattern.format(self.name) for pattern in BESIDE]
        return [
            name
            for name in names
            if (self._run.results / name).exists() and (self._run.scratch / name).exists()
        ]

    @property
    def documents(self) -> int:
        return int(load_json(self.path("text/{}.json"))["documents"])

    def remove(self) -> None:
        """Remove rebuilt files that are no longer needed."""
        for path in sorted(self._run.scratch.rglob(f"*{self.name}*")):
            if path.is_file() and path.relative_to(self._run.scratch).parts[0] not in STAYS:
                path.unlink()


STAYS = ("corpus", "tokens", "placements", "scatter", "tokenizer")


def equal(run: Finished, name: str) -> bool:
    """Say whether a rebuilt file equals that of the results, and report if not."""
    made, kept = (file_sha256(folder / name) for folder in (run.scratch, run.results))
    if made != kept:
        run.findings.damage(name, f"rebuilt from the inputs, it has SHA-256 {made}, not {kept}")
    return made == kept
