"""What a quality model of `corpusmill train-filter` says of a document."""

from functools import cached_property
from pathlib import Path

from corpusmill.mill.filters.declaration import Filter, Value, below, file, share


class Quality(Filter):
    """Documents that a model of `corpusmill train-filter` finds more like the bad texts that it
    has learnt from than like the good ones. See [models.md](../how-to/models.md)."""

    fate = "quality_model"
    settings = {
        "model": file(None, "The model file."),
        "min_score": share(None, "Least score."),
    }
    measured_with = ("model",)
    values = {"quality_score": Value("float32", "0 to 1, of a good text; 0 of one without a word")}
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
