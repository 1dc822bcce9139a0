"""Commands let loose on what an enemy made: in a process of bounded memory, each for a short time.

Run as a script it is that process: {name: arguments} on standard input, what came on its output.
"""

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import NamedTuple

MOST_MEMORY = 4 << 30  # numpy, pyarrow and numba reserve two of it
MOST_WALL_SECONDS = 60
"""Of a machine that does much else; a hang ends here."""
MOST_CPU_SECONDS = 10


class Answer(NamedTuple):
    code: int | None
    said: str
    """On both outputs."""
    fault: str
    """The traceback, if there was one."""
    seconds: float
    """Of CPU."""

    def problems(self) -> list[str]:
        """Why an enemy would be pleased."""
        found = [self.fault] if self.fault else []
        found += ["a traceback"] * ("Traceback" in self.said)
        found += [f"exit code {self.code}"] * (self.code not in (0, 1, 2))
        found += [f"{self.seconds:.1f} s"] * (self.seconds > MOST_CPU_SECONDS)
        return found + ["steers the terminal"] * ("\x1b" in self.said)


def attacked(commands: dict[str, list[str]], folder: Path) -> dict[str, Answer]:
    """What each command does in a folder."""
    root = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, __file__], input=json.dumps(commands), cwd=folder, text=True, check=True,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": f"{root}:{root / 'tests'}"},
    )  # fmt: skip
    return {name: Answer(*told) for name, told in json.loads(done.stdout).items()}


class HangsError(BaseException):
    pass


def _hangs(*_: object) -> None:
    raise HangsError


def streamed(place: str) -> str:
    """All tokens of a corpus, as a trainer reads them; what it says if it cannot."""
    import numpy as np

    from corpusmill.reader import Corpus, PackedSamples
    from corpusmill.reader.patience import Patience

    quick = Patience(attempts=2, first_seconds=0.01, longest_seconds=0.01)
    cache = None if "://" not in place else f"cache-{time.monotonic_ns()}"
    try:
        corpus = Corpus(place, cache, say=lambda line: None, patience=quick)
        for name in corpus.splits:
            split = corpus.split(name)
            split.read(0, split.tokens)
            for document in range(min(split.documents, 10)):
                split.document(document)
            for length in split.shards.packs if split.documents else ():
                samples = PackedSamples(split, length)
                samples.rows(np.arange(min(len(samples), 100)))
    except (ValueError, OSError) as refused:
        return str(refused)
    return ""


def _answer(arguments: list[str]) -> Answer:
    from click.testing import CliRunner

    from corpusmill.cli.main import main

    began = time.process_time()
    code: int | None = None
    said = fault = ""
    signal.alarm(MOST_WALL_SECONDS)
    try:
        if arguments[0] == "stream":
            said = streamed(arguments[1])
            code = int(bool(said))
        else:
            done = CliRunner().invoke(main, arguments, catch_exceptions=False)
            code, said = done.exit_code, done.output
    except BaseException:
        fault = "".join(traceback.format_exc().splitlines(keepends=True)[-6:])
    finally:
        signal.alarm(0)
    return Answer(code, said, fault, time.process_time() - began)


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    signal.signal(signal.SIGALRM, _hangs)
    with contextlib.redirect_stdout(sys.stderr):
        answers = {name: _answer(arguments) for name, arguments in asked.items()}
    json.dump(answers, sys.stdout)
