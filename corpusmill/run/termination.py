"""Handlers of signals that may wait for what the interrupted thread holds."""

import signal
import threading
from types import FrameType


def handle_beside(number: int) -> None:
    """Have the handler of a signal, if there is one, run in a thread of its own.

    Snakemake's of SIGTERM takes a lock that the interrupted thread has for much of a run, to go
    through the jobs that ended: both waited for ever, and no second SIGTERM was heard.
    """
    handler = signal.getsignal(number)
    if not callable(handler):
        return
    its = handler

    def begin(number: int, frame: FrameType | None) -> None:
        threading.Thread(target=its, args=(number, frame), daemon=True).start()

    signal.signal(number, begin)
