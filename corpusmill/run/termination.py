"""Run signal handlers that would wait for a lock of the interrupted thread."""

import signal
import threading
from types import FrameType


def handle_beside(number: int) -> None:
    """Run the handler of a signal, if there is one, in its own thread.

    Snakemake's handler of SIGTERM takes a lock. The interrupted thread often holds it, while it
    processes finished jobs. Then both waited forever, and a second SIGTERM had no effect.
    """
    handler = signal.getsignal(number)
    if not callable(handler):
        return
    its = handler

    def begin(number: int, frame: FrameType | None) -> None:
        threading.Thread(target=its, args=(number, frame), daemon=True).start()

    signal.signal(number, begin)
