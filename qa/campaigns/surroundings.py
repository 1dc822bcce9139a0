"""Surroundings: the same bytes for any cores, order of jobs, folder, environment."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from warm import warm_jobs

from qa.campaigns.runs import copied, differing, ran


@dataclass
class Cell:
    """What a run has that the first one had not."""

    name: str
    cores: int = 1
    shuffle: int | None = None
    place: str = "run"
    umask: int | None = None
    linked: bool = False
    own_kernels: bool = False
    own_temporary: bool = False
    environment: dict[str, str] = field(default_factory=dict)


CELLS = [
    *(Cell(f"{cores} cores", cores) for cores in (1, 2, 4)),
    *(Cell(f"order of jobs {seed}", cores, seed) for seed in range(1, 6) for cores in (1, 3)),
    Cell("another folder", place="other name"),
    Cell("a folder ten deeper", place="/".join("abcdefghij")),
    Cell("a folder with odd characters", place="it's $HOME `x` \"ü\" %s n"),
    Cell("a folder called results", place="results/results"),
    Cell("a folder behind a link", linked=True),
    *(Cell(f"umask {umask:03o}", umask=umask) for umask in (0o000, 0o077)),
    *(Cell(f"PYTHONHASHSEED={seed}", environment={"PYTHONHASHSEED": seed}) for seed in "07"),
    *(Cell(f"LC_ALL={name}", environment={"LC_ALL": name})
      for name in ("C", "C.UTF-8", "de_DE.UTF-8")),
    Cell("TZ=Asia/Kathmandu", environment={"TZ": "Asia/Kathmandu"}),
    Cell("TZ=America/Los_Angeles", environment={"TZ": "America/Los_Angeles"}),
    Cell("TMPDIR", own_temporary=True),
    Cell("threads 1", environment={
        f"{library}_NUM_THREADS": "1" for library in ("NUMBA", "OMP", "RAYON", "POLARS")}),
    Cell("threads 7", cores=2, environment={
        f"{library}_NUM_THREADS": "7" for library in ("OMP", "RAYON", "ARROW")}),
    Cell("PYTHONOPTIMIZE=2", environment={"PYTHONOPTIMIZE": "2"}),
    Cell("all at once", cores=2, umask=0o077, environment={
        "LC_ALL": "C", "TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "7", "PYTHONOPTIMIZE": "1",
        "TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}),
    Cell("kernels for any x86-64", own_kernels=True, environment={
        "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}),
    Cell("numpy and Arrow without AVX", environment={
        "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL"
        " AVX512_ICL AVX512_SPR",
        "ARROW_USER_SIMD_LEVEL": "NONE"}),
]  # fmt: skip
"""A locale that is not there is none: then the cell is one of the others."""


@contextlib.contextmanager
def surrounded(umask: int | None, environment: dict[str, str]) -> Iterator[None]:
    """With a umask, and with variables that are there when a server's Python starts."""
    before, around = os.umask(umask or 0), dict(os.environ)
    os.umask(before if umask is None else umask)
    os.environ.update(environment)
    try:
        with warm_jobs() if environment else contextlib.nullcontext():
            yield
    finally:
        os.umask(before)
        os.environ.clear()
        os.environ.update(around)


def run_of(cell: Cell, whole: Path, folder: Path) -> Iterator[str]:
    """What is wrong with a run in such surroundings: nothing, as it has to be."""
    place = folder / cell.place
    copied(whole, place)
    environment = dict(cell.environment)
    if cell.own_kernels:
        environment["NUMBA_CACHE_DIR"] = str(folder / "kernels")
    if cell.own_temporary:
        (folder / "temporary").mkdir()
        environment["TMPDIR"] = str(folder / "temporary")
    if cell.linked:
        (folder / "link").symlink_to(place)
    with surrounded(cell.umask, environment):
        done = ran(
            folder / "link" if cell.linked else place, cores=cell.cores,
            plan=None if cell.shuffle is None else {"shuffle": cell.shuffle},
        )  # fmt: skip
    if done.code:
        yield done.fault()
    yield from (f"{name}: other bytes" for name in differing(place, whole))


def checked(cell: Cell, whole: Path, folder: Path) -> list[str]:
    """The faults of a cell; its folder stays if there are some."""
    faults = list(run_of(cell, whole, folder))
    if not faults:
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(folder)
    return faults
