"""A signal stops the program wherever it arrives."""

import signal
import sys
import time

import pytest

from pipeline.cli.main import StopSignalHandler
from tests.web_fixture import PATIENCE


class Interrupted:
    """Receives a signal in its finalizer, where Python ignores exceptions."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def test_a_signal_in_a_finalizer_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = StopSignalHandler()
    monkeypatch.setattr(sys, "unraisablehook", handler.handle_unraisable)
    previous = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            Interrupted()
            time.sleep(PATIENCE)
    finally:
        signal.signal(signal.SIGINT, previous)
