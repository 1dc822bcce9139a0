"""fastText models in our kernels and in fastText itself; and the quality model.

    python benchmarks/linear_models.py --corpus DIR [--bytes 3e7] [--runs 3]

At the first use, fastText trains two models: one like lid.176.bin and one like those that rate web
text. Both sides label the same texts with the same model, in turn, each in a process on one core.
fastText comes from PyPI, in its own environment.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from benchmarks.measuring import child, on_cores, parser, shown, timed
from benchmarks.peers import SCRIPTS, python_of
from benchmarks.run_folder import RunFolder

SHAPES = {
    "language": "176 labels in a tree, 16 columns, n-grams of 2 to 4 characters",
    "quality": "2 labels, 100 columns, pairs of words",
}
SCRIPT = SCRIPTS / "fasttext_models.py"
QUALITY_TABLE = "linear models: the quality model"


def model_of(shape: str, given) -> Path:
    """Return the model of a shape, trained if missing."""
    path = given.cache.resolve() / f"fasttext/{shape}.bin"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        python = python_of("fasttext", given.cache)
        child([python, SCRIPT, "train", "--corpus", given.corpus, "--model", path])
    return path


def beside_fasttext(shape: str, given, run_folder: RunFolder) -> None:
    """Run both contestants in turn, and compare their probabilities."""
    import numpy as np

    model, table = model_of(shape, given), f"linear models: {SHAPES[shape]}"
    found = {}
    for run in range(given.runs):
        for name, environment in (("corpusmill", ""), ("fasttext", "fasttext")):
            saved = model.with_name(f"{shape}-{name}.npy")
            command = [python_of(environment, given.cache), SCRIPT, name, "--corpus", given.corpus,
                       "--bytes", given.bytes, "--model", model,
                       "--probabilities", saved]  # fmt: skip
            run_folder.record(
                table, name, group=shape, run=run, unit="MB",
                command=shown(["python", *command[1:]]), **child(command),
            )  # fmt: skip
            found[name] = np.load(saved)
    furthest = float(np.abs(found["corpusmill"] - found["fasttext"]).max())
    run_folder.note(
        table, f"Model file: {model.stat().st_size / 1e6:,.0f} MB. Greatest difference of a "
        f"probability: {furthest:.1g}."
    )  # fmt: skip


def quality_model(given, run_folder: RunFolder) -> None:
    """Measure features, training and scores of our own model, half of the texts good and half
    bad."""
    sys.path.insert(0, str(SCRIPTS))
    from same_work import texts_of

    from corpusmill.messages.progress import Silence
    from corpusmill.mill.filters.models.examples import ExampleFile
    from corpusmill.mill.filters.models.quality_model import Definition
    from corpusmill.mill.filters.models.training import Settings, trained
    from corpusmill.mill.read.text_column import TextColumn, string_array

    texts = texts_of(given.corpus, int(given.bytes))
    column = TextColumn.of(string_array([text.encode() for text in texts]))
    folder = given.cache.resolve()

    def train():
        with ExampleFile(folder, Definition(2, 20)) as file:
            file.add(texts[::2], True)
            file.add(texts[1::2], False)
            examples, _ = file.examples()
        return trained(examples, Definition(2, 20), Settings(0.1, 5, 3.0, 0), Silence())

    model = train().model
    model.score(column)
    for run in range(given.runs):
        for what, work in (("train, 5 epochs", train), ("score", lambda: model.score(column))):
            figures, _ = timed(work)
            run_folder.record(
                QUALITY_TABLE, what, group=what, run=run, unit="MB", amount=column.data.size,
                command=shown([sys.executable, *sys.argv]), **figures,
            )  # fmt: skip


def measure_all(given) -> None:
    run_folder = RunFolder(given.run_folder)
    on_cores(1)
    for shape in SHAPES:
        beside_fasttext(shape, given, run_folder)
    quality_model(given, run_folder)
    run_folder.close()


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--corpus", type=Path, required=True, help="a folder of *.jsonl.zst")
    arguments.add_argument("--bytes", type=float, default=3e7, help="of text")
    measure_all(arguments.parse_args())
