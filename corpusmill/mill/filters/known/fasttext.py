"""Labels of a fastText model."""

from functools import cached_property
from pathlib import Path

from corpusmill.mill.filters.declaration import Filter, Value, above, below, file, share, text


class FastText(Filter):
    """Drops documents by the label that a supervised fastText model (`.bin` or `.ftz`) gives them.
    The model sees the whole text as one line. A document without known features gets no label and
    probability 0."""

    fate = "fasttext"
    settings = {
        "model": file(None, "The model file."),
        "label": text("", "Label whose probability is limited, with or without `__label__`; "
                          "empty: each document's most probable label."),
        "min_probability": share(None, "Minimum probability."),
        "max_probability": share(None, "Maximum probability."),
    }  # fmt: skip
    measured_with = ("model", "label")
    values = {
        "label_probability": Value("float32", "fastText's probability of `label`"),
        "best_label": Value("text", "most probable label of the document, without `__label__`"),
    }
    limits = (
        below("label_probability", "min_probability"),
        above("label_probability", "max_probability"),
    )

    @cached_property
    def _model(self):
        from corpusmill.mill.filters.models.fasttext_model import FastTextModel

        return FastTextModel(Path(self.model))

    def measure(self, texts):
        import numpy as np

        from corpusmill.mill.filters.models.fasttext_file import label_name, label_number

        labels = self._model.labels
        found = self._model.predict(texts, 1, label_number(labels, self.label))
        shares = found.wanted if self.label else found.probabilities[:, 0]
        names = [*map(label_name, labels), None]  # -1, no label, is the last
        return {
            # fastText adds 0.00001 to every probability.
            "label_probability": np.minimum(shares, np.float32(1)),
            "best_label": [names[label] for label in found.best[:, 0].tolist()],
        }

    def faults(self):
        from corpusmill.messages.near_names import meant
        from corpusmill.mill.filters.models.fasttext_file import (
            label_name,
            label_number,
            read_fasttext,
        )

        try:
            labels = read_fasttext(Path(self.model)).labels()
        except (ValueError, OSError) as error:
            yield str(error)
            return
        if self.label and label_number(labels, self.label) < 0:
            names = [label_name(label) for label in labels]
            yield (
                f"{self.model}: expected one of its {len(names):,} labels, found label: "
                f"{self.label}."
                f"{meant(label_name(self.label), names, cutoff=0.5)}"
            )
