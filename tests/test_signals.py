"""A handler that needs what the interrupted thread holds gets it as soon as that lets go."""

import signal
import threading

import pytest

from corpusmill.run.termination import handle_beside


@pytest.fixture
def sigterm():
    before = signal.getsignal(signal.SIGTERM)
    yield signal.SIGTERM
    signal.signal(signal.SIGTERM, before)


def test_handle_beside__does_not_wait_for_the_interrupted_thread(sigterm):
    lock, heard = threading.Lock(), threading.Event()

    def handler(number, frame) -> None:
        with lock:
            heard.set()

    signal.signal(sigterm, handler)
    handle_beside(sigterm)
    with lock:
        signal.raise_signal(sigterm)
        assert not heard.is_set()
    assert heard.wait(30)


@pytest.mark.parametrize("handler", [signal.SIG_DFL, signal.SIG_IGN])
def test_handle_beside__leaves_what_is_no_handler(sigterm, handler):
    signal.signal(sigterm, handler)
    handle_beside(sigterm)
    assert signal.getsignal(sigterm) == handler
