"""Train a small GPT on a finished corpus: `python examples/train/train.py results --test`.

One process, or several: `torchrun --nproc-per-node 2 examples/train/train.py results`. Ctrl-C ends
the step that is under way, saves and says how to go on; --resume goes on as if never stopped.
"""

import argparse
import os
import sys
from pathlib import Path

from telling import Teller

NEEDED = {
    "torch": "pip install torch",
    "numpy": "pip install numpy",
    "corpusmill": f"pip install --no-deps {Path(__file__).resolve().parents[2]}",
}


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
    parser.add_argument("--rate", type=float, default=1e-3, help="of learning")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save-every", type=int, default=50, metavar="STEPS")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out")
    parser.add_argument("--test", action="store_true", help="a minute at most; fails if the loss "
                        "does not begin near ln(vocabulary) and fall")  # fmt: skip
    given = parser.parse_args()
    if given.test:
        given.layers, given.width, given.heads, given.length = 2, 64, 4, 64
        given.batch, given.accumulate, given.steps, given.rate = 4, 2, 40, 3e-3
    return given


def main() -> int | str:
    given = arguments()
    with Teller(silent=os.environ.get("RANK", "0") != "0") as teller:
        teller.show("loading torch")  # which takes seconds
        try:
            from loop import run
        except ModuleNotFoundError as error:
            if error.name not in NEEDED:
                raise
            return f"error: {error.name} is not installed here: {NEEDED[error.name]}"
        return run(given, teller)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:  # before the first step; the loop has a handler of its own
        sys.exit(130)
