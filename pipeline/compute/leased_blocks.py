"""Process blocks of ids on many workers; each block is processed by the worker that holds its lease."""

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from domain.errors import PlumblineError
from pipeline.compute.backend import ComputeBackend

R = TypeVar("R")
MAX_IDLE_ROUNDS = 20  # consecutive rounds, a heartbeat apart, without progress on the pending blocks


def process_blocks(
    backend: ComputeBackend,
    process_block: Callable[[int], R | None],
    list_pending: Callable[[], list[int]],
    retry_seconds: float,
    failure: str,
) -> Iterator[R]:
    """Process every pending block once and yield the results.

    A processed block that is still pending, because some of its items failed, is not repeated.

    Args:
        process_block: processes the block with this number; returns None if another worker holds the lease
        list_pending: returns the numbers of the pending blocks
        retry_seconds: pause before leased blocks are tried again
        failure: ends the error message "N blocks of ..."

    Raises:
        PlumblineError: MAX_IDLE_ROUNDS rounds without progress
    """
    completed, idle_rounds = set[int](), 0
    while pending_blocks := [number for number in list_pending() if number not in completed]:
        completed_before = len(completed)
        for number, result in backend.map_unordered(process_block, pending_blocks):
            if result is not None:
                completed.add(number)
                yield result
        idle_rounds = idle_rounds + 1 if len(completed) == completed_before else 0
        if idle_rounds == MAX_IDLE_ROUNDS:
            raise PlumblineError(f"{len(pending_blocks)} blocks of {failure}: see the logs of the workers")
        if idle_rounds:
            time.sleep(retry_seconds)
