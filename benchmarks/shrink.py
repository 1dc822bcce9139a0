"""Proxies of many mixtures: how long they take, how far they are from their targets, how fast they
are read.

    python benchmarks/shrink.py --data DIR [DIR] --tokenizer DIR [--mixtures 840] [--tokens 2e7]
                                [--cores 2]

Real texts are cut into documents of 200 to 4,000 characters, in cells by source and by a topic of
four. A run writes each once. The mixtures are drawn from a Dirichlet distribution around the sizes
of the cells, and stand for a training of two epochs. Tokens per second are those of `Shuffled` with
samples of 2,048 tokens, over all shards and over a proxy, in turn.

Ends with 1 if the repetition of a proxy differs from its target by more than 1 %.
"""

import io
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import zstandard

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

from benchmarks.measuring import parser, timed
from benchmarks.run_folder import RunFolder
from benchmarks.workflow import mill, warm_up
from benchmarks.yardstick import config_of, sources_of
from corpusmill.mill.decide.shares import table_of_shares
from corpusmill.reader import Batches, Corpus, Shrunk, Shuffled
from corpusmill.tools.tune.shrink.shrinking import MOST_DIFFERENCE, shrunk

TOPICS = 4
LENGTH = 2048
READ_TOKENS = 200_000_000


def cut_up(files: list[Path], path: Path) -> None:
    """Write pieces of texts as documents."""
    number, sizes = 0, np.random.default_rng(1)
    with path.open("wb") as raw, zstandard.ZstdCompressor(1).stream_writer(raw) as out:
        for file in files:
            with file.open("rb") as packed:
                lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(packed))
                for line in lines:
                    text, start = json.loads(line)["text"], 0
                    while start < len(text):
                        size = int(np.clip(sizes.lognormal(6.7, 0.7), 200, 4_000))
                        record = {"text": text[start : start + size], "topic": number % TOPICS}
                        out.write(json.dumps(record).encode() + b"\n")
                        start, number = start + size, number + 1


def table(cells: dict[tuple[str, ...], int], mixtures: int) -> str:
    rng = np.random.default_rng(1)
    sizes = np.array([*cells.values()], np.float64)
    drawn = rng.dirichlet(8 * sizes.size * sizes / sizes.sum(), mixtures)
    return table_of_shares(
        {
            f"run_{run:03}": dict(zip(cells, shares.tolist(), strict=True))
            for run, shares in enumerate(drawn)
        }
    )


def main(given) -> None:
    run_folder = RunFolder(given.run_folder)
    scratch = given.cache.resolve() / "shrink"
    shutil.rmtree(scratch, ignore_errors=True)
    (scratch / "run").mkdir(parents=True)
    sources = {name: [scratch / f"{name}.jsonl.zst"] for name in sources_of(given.data)}
    for name, files in sources_of(given.data).items():
        cut_up(files, sources[name][0])
    config = config_of(sources, given.tokenizer.resolve(), given.end_of_text)
    config["mixture"] = {
        "by": ["source", {"member": "topic"}],
        "copies": [{"by": "duplicates", "curve": {1: 1}}],
    }
    warm_up(given.cores)
    mill(scratch / "run", config, given.cores)
    results = scratch / "run/results"
    train = Corpus(results).split("train")
    cells = {group.cell: group.tokens for group in train.groups if group.cell}
    (scratch / "ratios.csv").write_text(table(cells, given.mixtures))
    keys = {"by": config["mixture"]["by"], "max": 200, "normalize": True}
    (scratch / "try.yaml").write_text(json.dumps({"mixture": keys}))
    took, _ = timed(
        lambda: shrunk(
            results, True, given.tokens, scratch / "proxy", "train", (scratch / "try.yaml",),
            scratch / "ratios.csv", 2 * train.tokens,
        )
    )  # fmt: skip
    facts = json.loads((scratch / "proxy/shrink.json").read_text())
    worst = max(facts["mixtures"], key=lambda one: one["repetition_difference"])
    shares = max(one["share_difference"] for one in facts["mixtures"])
    size = sum(file.stat().st_size for file in (scratch / "proxy").iterdir())
    orders = {
        "all shards": Shuffled(train, LENGTH, 1),
        "a proxy": Shuffled(Shrunk(train, scratch / "proxy", worst["name"]), LENGTH, 1),
    }
    rates: dict[str, list[float]] = {name: [] for name in orders}
    for _ in range(given.runs):
        for name, order in orders.items():
            batches = Batches(order, 16)
            steps = READ_TOKENS // 16 // LENGTH
            read, _ = timed(lambda: [next(batches) for _ in range(steps)])  # noqa: B023
            rates[name].append(steps * 16 * LENGTH / read["seconds"] / 1e6)
    medians = {name: sorted(of)[len(of) // 2] for name, of in rates.items()}
    lines = [
        "",
        f"{train.documents:,} documents with {train.tokens:,} tokens in {len(cells)} cells; "
        f"{len(facts['mixtures'])} proxies of {given.tokens:,.0f} tokens in "
        f"{took['seconds']:.1f} s, {size / 1e6:.1f} MB for {facts['documents']:,} documents.",
        "",
        "| what | largest of all proxies |",
        "|---|--:|",
        f"| difference of the repetition | {worst['repetition_difference']:.2%} |",
        f"| difference of a cell's share | {shares:.2%} |",
        "",
        "| read | million tokens per second |",
        "|---|--:|",
        *(f"| {name} | {median:,.0f} |" for name, median in medians.items()),
    ]
    print("\n".join(lines))
    run_folder.note("shrink", "\n".join(lines))
    run_folder.close()
    if worst["repetition_difference"] > MOST_DIFFERENCE:
        sys.exit(f"missed: the repetition of {worst['name']} differs by more than 1 %")


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--data", type=Path, nargs="+", required=True)
    arguments.add_argument("--tokenizer", type=Path, required=True)
    arguments.add_argument("--end-of-text", default="<|endoftext|>")
    arguments.add_argument("--mixtures", type=int, default=840)
    arguments.add_argument("--tokens", type=float, default=2e7)
    arguments.add_argument("--cores", type=int, default=2)
    main(arguments.parse_args())
