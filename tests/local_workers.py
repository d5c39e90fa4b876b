"""Extraction without worker processes, for tests of other things: each worker loads the extractor again."""

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from domain.errors import PlumblineError
from pipeline.workers.worker_process import WorkerExceptionError, WorkerProcess


@contextmanager
def local_workers() -> Iterator[None]:
    """Run the calls of `WorkerProcess` in this process, without its limits of time and memory."""
    with patch.object(WorkerProcess, "call", _call_here):
        yield


def _call_here(_: WorkerProcess, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    try:
        return work(*args, **kwargs)
    except PlumblineError:
        raise
    except Exception as error:
        raise WorkerExceptionError(f"{type(error).__name__}: {error}", traceback.format_exc()) from error
