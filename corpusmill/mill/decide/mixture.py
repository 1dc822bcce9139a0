"""The settings of a mixture, as steps get them from the configuration."""

from fractions import Fraction
from typing import Any, NamedTuple

NONE = "none"
"""Name of the cells of documents that lack a value."""
SIZE, DUPLICATES, DUPLICATE_SOURCES = "text_bytes", "duplicates", "duplicate_sources"
"""Values that every document has: bytes of text, documents of its cluster, itself included, and
their different sources."""


def member_column(member: str) -> str:
    """Return the column of a record member in results/measures."""
    return f"member:{member}"


def label_column(column: str) -> str:
    """Return the name of a column of names in tables of candidates. The same value may be a number
    in a different stage."""
    return f"label:{column}"


class Axis(NamedTuple):
    """A property of documents that divides them into cells. One of the last three fields is set,
    unless the property is the source."""

    name: str
    groups: dict[str, str] | None = None
    """Source -> name of its group."""
    column: str = ""
    """Column of the candidates with the value."""
    edges: list[float] | None = None
    """Limits between cells; a value equal to one belongs above it."""
    quantiles: int = 0
    """Number of cells with equally many documents."""
    missing: str = NONE
    """`none`: documents without the value form a cell of this name. `fail`: they stop the run."""


class Factor(NamedTuple):
    """A curve of steps: from each limit on, the number of copies relative to other documents."""

    column: str
    limits: list[float]
    times: list[float]
    of_quantiles: bool
    """If true, a limit is a share of the documents, ranked by value; if false, it is a value."""


class MaxEpochs(NamedTuple):
    """Maximum sizes of copies, relative to the size of their documents. None: no maximum."""

    each: float | None
    """Maximum of each cell that has none in `cells`."""
    all: float | None
    """Maximum of the whole mixture, relative to all documents with a factor above 0."""
    cells: dict[str, float]
    """Maximum of single cells, by their name along the first axis."""

    def of_cell(self, names: tuple[str, ...]) -> float | None:
        """Return the maximum of a cell. names: along each axis."""
        return self.cells.get(names[0], self.each)


class Mixture(NamedTuple):
    """The settings. `key` names of the configuration are in corpusmill/run/mixture_config.py."""

    unit: str
    """The unit of sizes: tokens, bytes or documents."""
    budget: int | None
    axes: list[Axis]
    factors: list[Factor]
    weights: dict[str, float]
    """Weight of each source."""
    shares: Any
    most: int
    max_epochs: MaxEpochs
    on_shortage: str
    seed: int
    purpose: str
    """Of the hash that draws documents: each stage has its own."""

    @property
    def labels(self) -> list[str]:
        """Columns whose values are names."""
        axes = (one for one in self.axes if one.column)
        return sorted({one.column for one in axes if not one.quantiles and one.edges is None})

    @property
    def numbers(self) -> list[str]:
        """Columns whose values are numbers."""
        axes = {one.column for one in self.axes if one.quantiles or one.edges is not None}
        return sorted(axes | {one.column for one in self.factors})

    @property
    def quantiles(self) -> dict[str, list[Fraction]]:
        """Column -> shares of documents at which its values are needed."""
        found: dict[str, set[Fraction]] = {}
        for axis in self.axes:
            if axis.quantiles:
                found.setdefault(axis.column, set()).update(shares_of_quantiles(axis.quantiles))
        for factor in self.factors:
            if factor.of_quantiles:
                found.setdefault(factor.column, set()).update(map(as_fraction, factor.limits))
        return {column: sorted(shares) for column, shares in sorted(found.items())}


class Stage(NamedTuple):
    """The mixture of train, or of a stage in place of it."""

    split: str
    exclude: list[str]
    """Stages whose documents are not used again."""
    mixture: Mixture


def labels_of(stages: list[Stage]) -> list[str]:
    """Return the columns whose values are names in a stage."""
    return sorted({name for stage in stages for name in stage.mixture.labels})


def numbers_of(stages: list[Stage]) -> list[str]:
    """Return the columns whose values are numbers in a stage."""
    return sorted({name for stage in stages for name in stage.mixture.numbers})


def as_fraction(number: float) -> Fraction:
    """Return a number as it is written: 0.1 is a tenth."""
    return Fraction(str(number))


def shares_of_quantiles(count: int) -> list[Fraction]:
    """Return the shares of documents below each of `count` equal parts but the first."""
    return [Fraction(place, count) for place in range(1, count)]
