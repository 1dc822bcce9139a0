"""Scores of a quality model that you trained."""

from functools import cached_property
from pathlib import Path

from corpusmill.mill.filters.declaration import Filter, Value, below, file, share


class Quality(Filter):
    """Drops documents with a low score from a model trained with `corpusmill train-filter`. See
    [Filter by a model](../how-to/models.md)."""

    fate = "quality_model"
    settings = {
        "model": file(None, "The model file."),
        "min_score": share(None, "Minimum score."),
    }
    measured_with = ("model",)
    values = {
        "quality_score": Value(
            "float32", "probability that the text is good; 0 for a text without words"
        )
    }
    limits = (below("quality_score", "min_score"),)

    @cached_property
    def _model(self):
        from corpusmill.mill.filters.models.quality_model import load_quality_model

        return load_quality_model(Path(self.model))

    def measure(self, texts):
        return {"quality_score": self._model.score(texts)}

    def faults(self):
        from corpusmill.mill.filters.models.quality_model import load_quality_model

        try:
            load_quality_model(Path(self.model))
        except (ValueError, OSError) as error:
            yield str(error)
