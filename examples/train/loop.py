"""The training loop: steps, checkpoints, stopping and resuming."""

import argparse
import contextlib
import math
import os
import pickle
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from curve import save_curve
from model import GPT
from rates import Rate
from telling import Teller, bar
from torch import distributed, nn

from corpusmill.reader import Batches, Shuffled

RANK = int(os.environ.get("RANK", "0"))
WORLD = int(os.environ.get("WORLD_SIZE", "1"))


LOCAL = int(os.environ.get("LOCAL_RANK", "0"))
SHAPE = ("length", "layers", "width", "heads", "seed")
"""Options that must be unchanged to resume."""
HOW = ("batch", "accumulate", "rate", "warmup", "cosine", "dtype")
"""Options that should be unchanged, or the losses differ from those of an uninterrupted run."""


def device_for(wanted: str) -> torch.device:
    """Return the device. Raise ValueError if torch has none of this kind here."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    found = next((name for name, is_there in there.items() if is_there), "cpu")
    name = found if wanted == "auto" else wanted
    if not there.get(name, True):
        raise ValueError(f"--device {name}: torch finds none here. Leave it away, or give cpu.")
    if name == "mps" and WORLD > 1:
        raise ValueError("--device mps: expected one process, as torch deals it out to no more.")
    if name == "cuda":
        torch.cuda.set_device(LOCAL)
    return torch.device(name, LOCAL if name == "cuda" else None)


@dataclass
class Training:
    """The state of the training."""

    given: argparse.Namespace
    teller: Teller
    device: torch.device
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
        """Make one step of the optimizer; return the mean loss of all processes."""
        given = self.given
        for group in self.optimizer.param_groups:
            group["lr"] = Rate(given.rate, given.warmup, given.cosine).at(len(self.losses))
        total = torch.zeros((), device=self.device)
        for number in range(given.accumulate):
            self.teller.now = self.status(number)
            tokens = torch.from_numpy(next(self.batches).astype("int64")).to(self.device)
            # Exchange gradients only once, with the last batch.
            last = number == given.accumulate - 1
            alone = contextlib.nullcontext() if last or WORLD == 1 else self.model.no_sync()
            with alone:
                with self.autocast():
                    loss = self.model(tokens[:, :-1], tokens[:, 1:]) / given.accumulate
                loss.backward()
            total += loss.detach()
        self.teller.now = self.status(given.accumulate)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        if WORLD > 1:
            distributed.all_reduce(total)
        return total.item() / WORLD

    def autocast(self) -> torch.autocast:
        wanted = self.given.dtype == "bfloat16"
        return torch.autocast(self.device.type, torch.bfloat16, enabled=wanted)

    def status(self, batches: int) -> str:
        loss = f"loss {self.losses[-1]:.4f}" if self.losses else "first step"
        done = bar(batches, self.given.accumulate)
        return f"step {len(self.losses) + 1}/{self.given.steps} {done} {loss}"

    def state(self) -> dict[str, Any]:
        inner = self.model.module if WORLD > 1 else self.model
        return {
            "model": inner.state_dict(), "optimizer": self.optimizer.state_dict(),
            "stream": self.batches.state_dict(), "losses": self.losses,
            "given": {name: getattr(self.given, name) for name in (*SHAPE, *HOW)},
        }  # fmt: skip

    def save(self) -> None:
        if RANK == 0:
            self.teller.now = f"saving {self.file}"
            beside = self.file.with_suffix(".new")
            torch.save(self.state(), beside)
            os.replace(beside, self.file)
            save_curve(self.given.out, self.losses, self.vocabulary)

    def load(self) -> None:
        state = loaded(self.file, self.device)
        for name in (*SHAPE, *HOW):
            there, here = state["given"][name], getattr(self.given, name)
            if there != here and name in SHAPE:
                raise ValueError(
                    f"{self.file}: made with --{name} {there}, this is {here}. Give the same."
                )
            if there != here:
                self.teller.say(f"--{name} was {there} and is {here} now")
        inner = self.model.module if WORLD > 1 else self.model
        inner.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.batches.load_state_dict(state["stream"])
        self.losses = state["losses"]

    def asked_to_stop(self) -> bool:
        """Say whether any process was asked to stop. All must agree, or others would wait for
        it."""
        asked = torch.tensor(float(self.stopped_by > 0), device=self.device)
        if WORLD > 1:
            distributed.all_reduce(asked)
        return asked.item() > 0


def loaded(file: Path, device: torch.device) -> dict[str, Any]:
    """Load a checkpoint. Raise ValueError if it is damaged or incomplete."""
    try:
        state = torch.load(file, map_location=device, weights_only=True)
    except (RuntimeError, pickle.UnpicklingError, EOFError) as error:
        why = str(error).splitlines()[0] if str(error) else "it is empty"
        raise ValueError(f"{file}: not a whole checkpoint ({why}). Begin anew: --out.") from error
    if not isinstance(state, dict) or "given" not in state:
        raise ValueError(f"{file}: a checkpoint without its options. Begin anew: --out.")
    return state


def prepared(
    given: argparse.Namespace, teller: Teller, order: Shuffled, device: torch.device
) -> Training:
    """Make the model, equal in every process."""
    batches = Batches(order, given.batch, rank=RANK, world_size=WORLD)
    teller.show("making the model")
    torch.manual_seed(given.seed)
    size = order.vocabulary.size
    model: nn.Module = GPT(size, given.length, given.layers, given.width, given.heads).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=given.rate)
    if WORLD > 1:
        places = [device.index] if device.type == "cuda" else None
        model = nn.parallel.DistributedDataParallel(model, device_ids=places)
    training = Training(given, teller, device, batches, model, optimizer, size)
    given.out.mkdir(parents=True, exist_ok=True)
    if given.resume:
        training.load()
    parameters = sum(one.numel() for one in model.parameters())
    teller.say(
        f"{order.samples.split.tokens:,} tokens, vocabulary {size:,}; {parameters:,} parameters; "
        f"{given.batch * given.accumulate * WORLD * given.length:,} tokens per step, "
        f"{WORLD} process{'es' * (WORLD > 1)} on {device.type}, {given.dtype}"
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
    """Return the fault that --test finds; "" if none."""
    first, expected = training.losses[0], math.log(training.vocabulary)
    if abs(first - expected) > 0.5:
        return f"the first loss is {first:.2f}, expected near ln(vocabulary) = {expected:.2f}"
    if training.losses[-1] > first - 0.3:
        return f"the loss fell from {first:.2f} to {training.losses[-1]:.2f}, expected 0.3 at least"
    return ""


def run(given: argparse.Namespace, teller: Teller, order: Shuffled) -> int:
    """Train until all steps are done or it is stopped; return the exit code."""
    device = device_for(given.device)
    # Some GPU kernels have no deterministic version.
    torch.use_deterministic_algorithms(True, warn_only=device.type != "cpu")
    if WORLD > 1:
        distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    training = prepared(given, teller, order, device)

    def stop(number: int, frame: object) -> None:
        if training.stopped_by:
            sys.exit(128 + number)
        # Print nothing here: the interrupted code may be in the middle of a line.
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
