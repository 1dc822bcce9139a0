"""Train a small GPT on a finished corpus: `python examples/train/train.py results --test`.

One process, or several: `torchrun --nproc-per-node 2 examples/train/train.py results`. Ctrl-C
finishes the current step, saves a checkpoint and says how to resume; --resume continues exactly.
"""

import argparse
import math
import os
import sys
from pathlib import Path

from telling import Teller

NEEDED = {
    "torch": "pip install torch",
    "numpy": "pip install numpy",
    "corpusmill": f"pip install --no-deps {Path(__file__).resolve().parents[2]}",
}
FROM_ZERO = ("warmup", "cosine", "seed")
"""Options that may be 0."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", help="the results of a finished run, or their address")
    parser.add_argument("--out", type=Path, default=Path("trained"), help="checkpoint and curve")
    parser.add_argument("--cache", type=Path, help="where shards are fetched to; for an address")
    parser.add_argument("--length", type=int, default=128, help="tokens of a sample")
    parser.add_argument("--batch", type=int, default=8, help="samples of a process at once")
    parser.add_argument("--accumulate", type=int, default=4, help="batches of a step")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--rate", type=float, default=1e-3, help="of learning, at its highest")
    parser.add_argument("--warmup", type=int, default=0, metavar="STEPS",
                        help="in which the rate rises to --rate")  # fmt: skip
    parser.add_argument("--cosine", type=int, default=0, metavar="STEP",
                        help="by which the rate has fallen to a tenth; 0: it stays")  # fmt: skip
    parser.add_argument("--device", choices=["auto", "cpu", "cuda", "mps"], default="auto",
                        help="auto: cuda or mps where torch finds one, else cpu")  # fmt: skip
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32",
                        help="bfloat16: products in autocast; weights stay float32")  # fmt: skip
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save-every", type=int, default=50, metavar="STEPS")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out")
    parser.add_argument("--test", action="store_true", help="a minute at most; fails if the loss "
                        "does not begin near ln(vocabulary) and fall")  # fmt: skip
    given = parser.parse_args()
    if given.test:
        given.layers, given.width, given.heads, given.length = 2, 64, 4, 64
        given.batch, given.accumulate, given.steps, given.rate = 4, 2, 40, 3e-3
    for name, value in vars(given).items():
        least = 0 if name in FROM_ZERO else 1
        if type(value) is int and value < least:
            parser.error(f"--{name.replace('_', '-')}: expected {least} or more, got {value}")
    if not 0 < given.rate < math.inf:
        parser.error(f"--rate: expected a number above 0, got {given.rate}")
    if given.width % given.heads:
        parser.error(f"--width {given.width} is no multiple of --heads {given.heads}")
    return given


def refuse_checkpoint(given: argparse.Namespace) -> None:
    """Raise ValueError if an unexpected checkpoint exists or an expected one is missing."""
    file = given.out / "checkpoint.pt"
    if given.resume and not file.exists():
        raise ValueError(f"{file}: no checkpoint to go on from. Leave --resume away.")
    if file.exists() and not given.resume:
        raise ValueError(f"{file} is there: --resume goes on with it, --out names another folder.")


def begun(given: argparse.Namespace, teller: Teller) -> int:
    """Open the corpus, load torch, train. Faults that need no torch are reported first."""
    refuse_checkpoint(given)
    teller.show(f"opening {given.results}")
    from corpusmill.reader import Corpus, Shuffled

    corpus = Corpus(given.results, cache=given.cache, say=teller.show)
    order = Shuffled(corpus.split("train"), given.length, given.seed)
    # Makes products on a GPU deterministic; torch reads it at its start.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    with teller.apart("loading torch"):
        from loop import run
    return run(given, teller, order)


def main() -> int | str:
    given = arguments()
    with Teller(silent=os.environ.get("RANK", "0") != "0") as teller:
        try:
            return begun(given, teller)
        except ModuleNotFoundError as error:
            if error.name not in NEEDED:
                raise
            return f"error: {error.name} is not installed here: {NEEDED[error.name]}"
        except (ValueError, OSError) as error:  # no corpus, a damaged shard, a full disk
            return f"error: {error}"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:  # before the first step; the loop has its own handler
        sys.exit(130)
