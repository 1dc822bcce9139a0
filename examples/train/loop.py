"""The training itself: steps, checkpoints, and what goes on when it is stopped."""

import argparse
import contextlib
import math
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from curve import save_curve
from model import GPT
from telling import Teller, bar
from torch import distributed, nn

from corpusmill.stream import Batches, Corpus, Shuffled

RANK = int(os.environ.get("RANK", "0"))
WORLD = int(os.environ.get("WORLD_SIZE", "1"))


@dataclass
class Training:
    """All that goes on from step to step."""

    given: argparse.Namespace
    teller: Teller
    batches: Batches
    model: nn.Module
    optimizer: torch.optim.Optimizer
    vocabulary: int
    losses: list[float] = field(default_factory=list)
    stopped_by: int = 0

    @property
    def file(self) -> Path:
        return Path(self.given.out) / "checkpoint.pt"

    def step(self) -> float:
        """One step of the optimizer; the mean loss of all processes."""
        total = torch.zeros(())
        for number in range(self.given.accumulate):
            self.teller.now = self.status(number)
            tokens = torch.from_numpy(next(self.batches).astype("int64"))
            # Gradients of other processes are wanted once, with the last batch.
            last = number == self.given.accumulate - 1
            alone = contextlib.nullcontext() if last or WORLD == 1 else self.model.no_sync()
            with alone:
                loss = self.model(tokens[:, :-1], tokens[:, 1:]) / self.given.accumulate
                loss.backward()
            total += loss.detach()
        self.teller.now = self.status(self.given.accumulate)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        if WORLD > 1:
            distributed.all_reduce(total)
        return total.item() / WORLD

    def status(self, batches: int) -> str:
        loss = f"loss {self.losses[-1]:.4f}" if self.losses else "first step"
        done = bar(batches, self.given.accumulate)
        return f"step {len(self.losses) + 1}/{self.given.steps} {done} {loss}"

    def state(self) -> dict[str, Any]:
        inner = self.model.module if WORLD > 1 else self.model
        return {
            "model": inner.state_dict(), "optimizer": self.optimizer.state_dict(),
            "stream": self.batches.state_dict(), "losses": self.losses,
        }  # fmt: skip

    def save(self) -> None:
        if RANK == 0:
            self.teller.now = f"saving {self.file}"
            beside = self.file.with_suffix(".new")
            torch.save(self.state(), beside)
            os.replace(beside, self.file)
            save_curve(self.given.out, self.losses, self.vocabulary)

    def load(self) -> None:
        if not self.file.exists():
            sys.exit(f"{self.file}: no checkpoint to go on from. Leave --resume away.")
        state = torch.load(self.file, weights_only=True)
        inner = self.model.module if WORLD > 1 else self.model
        inner.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.batches.load_state_dict(state["stream"])
        self.losses = state["losses"]

    def asked_to_stop(self) -> bool:
        """Whether any process was; all have to know, or the others wait for it."""
        asked = torch.tensor(float(self.stopped_by > 0))
        if WORLD > 1:
            distributed.all_reduce(asked)
        return asked.item() > 0


def prepared(given: argparse.Namespace, teller: Teller) -> Training:
    """The corpus opened and the model made, the same in every process."""
    teller.show(f"opening {given.results}")
    corpus = Corpus(given.results, cache=given.cache, say=teller.show)
    order = Shuffled(corpus.split("train"), given.length, given.seed)
    batches = Batches(order, given.batch, rank=RANK, world_size=WORLD)
    teller.show("making the model")
    torch.manual_seed(given.seed)
    size = corpus.vocabulary.size
    model: nn.Module = GPT(size, given.length, given.layers, given.width, given.heads)
    optimizer = torch.optim.AdamW(model.parameters(), lr=given.rate)
    if WORLD > 1:
        model = nn.parallel.DistributedDataParallel(model)
    training = Training(given, teller, batches, model, optimizer, size)
    given.out.mkdir(parents=True, exist_ok=True)
    if given.resume:
        training.load()
    elif training.file.exists():
        sys.exit(f"{training.file} is there: --resume goes on with it, --out names another folder.")
    parameters = sum(one.numel() for one in model.parameters())
    teller.say(
        f"{corpus.split('train').tokens:,} tokens, vocabulary {size:,}; {parameters:,} parameters; "
        f"{given.batch * given.accumulate * WORLD * given.length:,} tokens per step, "
        f"{WORLD} process{'es' * (WORLD > 1)}"
    )
    return training


def train(training: Training) -> None:
    given, first, begun = training.given, len(training.losses), time.monotonic()
    while len(training.losses) < given.steps:
        training.losses.append(training.step())
        done, seconds = len(training.losses), time.monotonic() - begun
        per_second = (done - first) / seconds
        tokens = per_second * given.batch * given.accumulate * WORLD * given.length
        left = (given.steps - done) / per_second
        training.teller.show(
            f"step {done}/{given.steps} loss {training.losses[-1]:.4f}, {tokens:,.0f} tokens/s, "
            f"{left:,.0f} s left"
        )
        if training.asked_to_stop():
            break
        if done % given.save_every == 0:
            training.save()
    training.save()
    training.teller.say(
        f"{len(training.losses)} steps, loss {training.losses[0]:.4f} to "
        f"{training.losses[-1]:.4f}. {given.out}/: checkpoint.pt, loss.csv, loss.svg"
    )


def failed(training: Training) -> str:
    """What a test finds wrong, if anything."""
    first, expected = training.losses[0], math.log(training.vocabulary)
    if abs(first - expected) > 0.5:
        return f"the first loss is {first:.2f}, expected near ln(vocabulary) = {expected:.2f}"
    if training.losses[-1] > first - 0.3:
        return f"the loss fell from {first:.2f} to {training.losses[-1]:.2f}, expected 0.3 at least"
    return ""


def run(given: argparse.Namespace, teller: Teller) -> int:
    """Train until all steps are done or it is stopped; the exit code."""
    torch.use_deterministic_algorithms(True)
    if WORLD > 1:
        distributed.init_process_group("gloo")
    try:
        training = prepared(given, teller)
    except (ValueError, OSError) as error:  # no corpus there, a shard that is damaged, a full disk
        sys.exit(f"error: {error}")

    def stop(number: int, frame: object) -> None:
        if training.stopped_by:
            sys.exit(128 + number)
        # Nothing is printed here: whoever was interrupted may be in the middle of a line.
        training.stopped_by = number
        teller.also = "; stopping after this step, once more: at once"

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    train(training)
    if len(training.losses) < given.steps:
        teller.say("Stopped. --resume goes on from here.")
        return 128 + (training.stopped_by or signal.SIGINT)
    if given.test and (fault := failed(training)):
        teller.say(f"FAILED: {fault}")
        return 1
    if WORLD > 1:
        distributed.destroy_process_group()
    return 0
