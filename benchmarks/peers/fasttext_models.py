"""The best label of each text and its probability by fastText; and training of such models."""

import hashlib

from same_work import Work, digest_of, main, size_of, texts_of

LINE_BYTES = 3000
TRAINING_BYTES = 8e6
LANGUAGES = 176
SHAPES = {
    # Like lid.176.bin: 16 columns, n-grams of 2 to 4 characters, hierarchical softmax.
    "language": {"dim": 16, "minn": 2, "maxn": 4, "minCount": 50, "loss": "hs", "epoch": 1},
    # Like classifiers of web text: 100 columns, pairs of words, two labels.
    "quality": {"dim": 100, "wordNgrams": 2, "loss": "softmax", "epoch": 2},
}


def label_of(text: str, shape: str) -> str:
    """Return a label drawn by hash: what a model has learnt does not change its speed."""
    drawn = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    if shape == "quality":
        return f"__label__{drawn % 2}"
    return f"__label__{min(drawn % LANGUAGES, (drawn >> 20) % LANGUAGES)}"  # not equally frequent


def train(given) -> Work:
    """Train the requested model. Models are named by their shape."""
    import fasttext

    def run() -> None:
        shape, corpus = given.model.stem, given.model.with_suffix(".txt")
        with open(corpus, "w", encoding="utf-8") as file:
            for text in texts_of(given.corpus, int(TRAINING_BYTES)):
                line = " ".join(text.split())[:LINE_BYTES]
                file.write(f"{label_of(line, shape)} {line}\n")
        model = fasttext.train_supervised(
            str(corpus), bucket=2_000_000, thread=1, verbose=0, **SHAPES[shape]
        )
        model.save_model(str(given.model))

    return Work(run, 1, lambda _: {})


def tell(given, labels: list[str], probabilities) -> dict:
    import numpy as np

    if given.probabilities:
        np.save(given.probabilities, np.array(probabilities, np.float32))
    told = {"documents": len(labels), "labels": len(set(labels))}
    return {"output": digest_of("\n".join(labels).encode()), "counts": told}


def corpusmill(given) -> Work:
    from corpusmill.mill.filters.models.fasttext_model import FastTextModel
    from corpusmill.mill.read.text_column import TextColumn, string_array

    texts = texts_of(given.corpus, int(given.bytes))
    column = TextColumn.of(string_array([text.encode() for text in texts]))
    model = FastTextModel(given.model)

    def told(found) -> dict:
        labels = [model.labels[label] for label in found.best[:, 0].tolist()]
        return tell(given, labels, found.probabilities[:, 0])

    return Work(lambda: model.predict(column), size_of(texts), told)


def fasttext(given) -> Work:
    """Label texts one by one, as fastText's Python package requires; line feeds become spaces."""
    import fasttext

    texts = texts_of(given.corpus, int(given.bytes))
    lines = [text.replace("\n", " ") + "\n" for text in texts]
    predict = fasttext.load_model(str(given.model)).f.predict

    def told(found) -> dict:
        best = [one[0] for one in found]
        return tell(given, [label for _, label in best], [share for share, _ in best])

    return Work(lambda: [predict(line, 1, 0.0, "strict") for line in lines], size_of(texts), told)


if __name__ == "__main__":
    main({"train": train, "corpusmill": corpusmill, "fasttext": fasttext})
