"""Settings of steps that combine several keys of the configuration.

A key becomes part of a step's settings where config.py declares it: `within`.
"""

from typing import Any

from corpusmill.mill.decide.mixture import Mixture
from corpusmill.run.config import Config
from corpusmill.run.inputs import Inputs
from corpusmill.run.typed import as_given


class StepSettings:
    def __init__(self, config: Config, inputs: Inputs) -> None:
        self._config, self._inputs = config, inputs

    def of(self, settings: str) -> dict[str, Any]:
        """Return the keys that are declared `within` these settings; a key of sources as its value
        by source."""
        found = self._config.keys_within(settings)
        for source in self._config.sources:
            for name, value in source.keys_within(settings).items():
                found.setdefault(name, {})[source.name] = value
        return found

    def of_sources(self, key: str) -> dict[str, Any]:
        """Return the value of a key for each source."""
        return {source.name: getattr(source, key) for source in self._config.sources}

    @property
    def span(self) -> dict:
        """Definition of a span; see corpusmill/mill/read/spans.py."""
        spans = self._config.spans
        width = spans.width if spans.unit == "sentence" else 1
        return as_given(spans) | {"width": width}

    @property
    def measuring(self) -> list[dict]:
        """Filters that measure, with the settings that affect their values."""
        return [filter.measuring for filter in self._config.filters if filter.measures]

    @property
    def deciding(self) -> list[dict]:
        """All filters with all settings."""
        return [filter.deciding for filter in self._config.filters]

    @property
    def filter_fates(self) -> list[str]:
        """Fates of the filters that drop, in order."""
        return [filter.name for filter in self._config.filters if filter.drops]

    @property
    def filter_values(self) -> list[dict]:
        """Filters that drop, in order: name, and column and dtype of each value."""
        return [
            {
                "fate": filter.name,
                "values": [
                    [column, filter.declaration.values[value].dtype]
                    for value, column in filter.columns.items()
                    if value != "reason"
                ],
            }
            for filter in self._config.filters
            if filter.drops
        ]

    @property
    def policies(self) -> dict[str, str]:
        """With which documents those of each milled source are compared."""
        return {source.name: source.duplicates for source in self._config.milled}

    @property
    def comparing(self) -> dict:
        """Which documents are compared; see corpusmill/mill/dedup/policies.py."""
        return self.of("comparing") | {"policies": self.policies}

    @property
    def agreement(self) -> dict:
        """How many sources must agree on a document; see scripts/assign.py."""
        return {"min_sources": self._config.dedup.min_sources, "policies": self.policies}

    @property
    def hasher(self) -> dict:
        return as_given(self._config.minhash) | {"permutations": self._config.permutations}

    @property
    def banding(self) -> dict:
        """Settings of band keys; see corpusmill/mill/dedup/lsh.py."""
        bands, rows = self._config.band_setting
        return self.of("banding") | {"bands": bands, "rows": rows}

    @property
    def similarity(self) -> dict:
        """Criterion for similar sketches; see corpusmill/mill/dedup/edges.py."""
        return self.of("similarity") | {"permutations": self._config.permutations}

    @property
    def preference(self) -> dict:
        """Preference among similar documents; see corpusmill/mill/dedup/order.py."""
        generations = [part.generation for part in self._inputs.parts]
        return self.of("preference") | {
            "weights": self._config.weights,
            "generations": generations if self._config.dedup.earlier_first else None,
        }

    @property
    def sampling(self) -> dict:
        """Splits and copies; see corpusmill/mill/decide/splits_and_copies.py."""
        weights, fractions = self._config.weights, self._config.splits.fractions
        return self.of("sampling") | {
            "weights": weights,
            "fractions": fractions,
            "mixes": bool(self._config.mixtures),
        }

    @property
    def stages(self) -> list[dict]:
        """The mixtures of train or its stages; see corpusmill/mill/decide/mixture.py."""
        return [
            stage._asdict() | {"mixture": mixture_as_json(stage.mixture)}
            for stage in self._config.composed
        ]

    @property
    def arranging(self) -> dict | None:
        """The order of splits that are not shuffled; see corpusmill/mill/decide/curriculum.py."""
        arranging = self._config.arranging
        if arranging is None:
            return None
        curriculum = arranging.curriculum
        return {"splits": arranging.splits, "curriculum": curriculum and curriculum._asdict()}


def mixture_as_json(mixture: Mixture) -> dict:
    return mixture._asdict() | {
        "axes": [axis._asdict() for axis in mixture.axes],
        "factors": [factor._asdict() for factor in mixture.factors],
        "max_epochs": mixture.max_epochs._asdict(),
    }
