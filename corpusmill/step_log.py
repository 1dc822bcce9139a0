"""Each job's own log file: what it did, how it ended, what it took."""

import contextlib
import logging
import resource
import sys
import time
from collections.abc import Iterator

from corpusmill.progress import Heartbeat


@contextlib.contextmanager
def step_log(path: str) -> Iterator[None]:
    """Log this job to `path`: its lines, its progress, and its traceback if it fails.

    Wrong input (ValueError, OSError) ends the job with its one-line message on the terminal.
    """
    logging.basicConfig(
        filename=path,
        filemode="w",
        level=logging.INFO,
        format="%(asctime)s %(message)s",
        datefmt="%H:%M:%S",
        force=True,
    )
    started = time.monotonic()
    heartbeat = Heartbeat(logging.info)
    heartbeat.start()
    try:
        yield
    except Exception as error:
        heartbeat.stop()
        logging.exception("failed after %.1f s", time.monotonic() - started)
        logging.error("error: %s", error)
        if isinstance(error, (ValueError, OSError)):
            sys.exit(f"error: {error}")
        raise
    heartbeat.stop()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    logging.info(
        "finished: %.2f s, %.2f s of CPU, peak memory %.0f MB",
        time.monotonic() - started,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss / 1024,
    )
