"""The pictures of README, from a real run of the demo.

    python docs/make_pictures.py docs/pictures

Writes progress.svg, the screen when a wanted share of the jobs is done, and result.svg.
"""

import os
import sys
import tempfile
from pathlib import Path

from rich.console import Console, RenderableType

from corpusmill.cli.result import result
from corpusmill.cli.run_progress import Run
from corpusmill.cli.running import Running, snakemake_command
from corpusmill.cli.screen import picture

SHARE = 0.6
WIDTH = {"progress": 100, "result": 140}


def draw(folder: Path, name: str, title: str, shown: RenderableType) -> None:
    with open(os.devnull, "w") as nowhere:
        console = Console(
            file=nowhere, record=True, width=WIDTH[name], force_terminal=True, highlight=False
        )
        console.print(shown, markup=False)
    console.save_svg(str(folder / f"{name}.svg"), title=title, unique_id=name)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryFile() as said:
        os.chdir(empty)
        run = Run()
        running = Running(snakemake_command([], ["--cores", "2"]), run, said)
        drawn = False
        while (code := running.wait(0.1)) is None:
            busy = [job for job in run.running() if job.doing()]
            if not drawn and run.total and run.finished >= SHARE * run.total and busy:
                draw(folder, "progress", "corpusmill demo", picture(run))
                drawn = True
        if code or not drawn:
            said.seek(0)
            sys.exit(said.read().decode("utf-8", "replace"))
        draw(folder, "result", "corpusmill demo", result(run))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
