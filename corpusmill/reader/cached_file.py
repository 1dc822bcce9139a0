"""A file beside the shards in a cache: fetched once per node, verified, and never removed."""

import os
import time
from functools import partial
from pathlib import Path
from threading import Event

from corpusmill.messages.progress import Heartbeat
from corpusmill.reader.downloads import Remote, download
from corpusmill.reader.node_locks import NodeLock
from corpusmill.reader.patience import Patience, Say
from corpusmill.reader.stores import Store

ASK_AGAIN_SECONDS = 0.1  # interval for checking on another process


def cached_file(store: Store, folder: Path, file: Remote, patience: Patience, say: Say) -> Path:
    """Return the path of a file in the cache, fetched unless it is there.

    Its name there has its SHA-256, so a file with that name is the right one.
    """
    base = file.name.rpartition("/")[2]
    path = folder / f"{file.sha256[:16]}-{base}"
    if _is_there(path, file):
        return path
    folder.mkdir(parents=True, exist_ok=True)
    lock = NodeLock(folder / f"{path.name}.lock")
    doing = [f"{file.name}, by another process"]
    heartbeat = Heartbeat(say, lambda seconds: f"waiting for {doing[0]}")
    heartbeat.start()
    try:
        while not _is_there(path, file):
            if not lock.alone():
                time.sleep(ASK_AGAIN_SECONDS)
            elif not _is_there(path, file):
                part = folder / f"{path.name}.part"
                tell = partial(doing.__setitem__, 0)  # only the heartbeat prints
                download(store, file, part, patience, tell, Event())
                os.replace(part, path)
    finally:
        heartbeat.stop()
        lock.close()
    return path


def _is_there(path: Path, file: Remote) -> bool:
    try:
        return path.stat().st_size == file.size
    except FileNotFoundError:
        return False
