"""Fences: work that has lost its lease commits nothing and sends no request.

`hold_fence` adds a fence to the context (contextvars) of the calling thread. Every write transaction calls
`check_commit`, every request `check_request`. The other threads of the work have the same fences if they start with
`start_thread` or run a function of `in_this_context`.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar

from domain.lease import Fence

P = ParamSpec("P")
R = TypeVar("R")


_FENCES: ContextVar[tuple[Fence, ...]] = ContextVar("fences", default=())


@contextmanager
def hold_fence(fence: Fence) -> Iterator[None]:
    """Check `fence` at every commit and every request of this context during the `with` block."""
    token = _FENCES.set((*_FENCES.get(), fence))
    try:
        yield
    finally:
        _FENCES.reset(token)


def check_commit(connection: Any) -> None:
    """Check all fences before a commit. Raises LeaseLostError; the transaction must then be rolled back."""
    for fence in _FENCES.get():
        fence.check_commit(connection)


def check_request() -> None:
    """Check all fences immediately before a request. Raises LeaseLostError; the request must then not be sent."""
    for fence in _FENCES.get():
        fence.check_request()


def in_this_context(function: Callable[P, R]) -> Callable[P, R]:
    """Return `function` with the fences of this context, to run in another thread, once at a time."""
    return partial(copy_context().run, function)


def start_thread(target: Callable[[], Any], name: str) -> threading.Thread:
    """Start a daemon thread with the fences of this context."""
    thread = threading.Thread(target=in_this_context(target), name=name, daemon=True)
    thread.start()
    return thread
