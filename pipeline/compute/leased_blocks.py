"""Work that the store cuts into blocks, done by many workers: each block by whoever holds its lease."""

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from docstore.errors import PlumblineError
from pipeline.compute.backend import ComputeBackend

R = TypeVar("R")
MAX_IDLE_ROUNDS = 20  # looks in a row, a heartbeat apart, that found blocks pending and none that could be done


def process_blocks(
    backend: ComputeBackend,
    process_block: Callable[[int], R | None],
    list_pending: Callable[[], list[int]],
    retry_seconds: float,
    failure: str,
) -> Iterator[R]:
    """What `process_block` makes of each block (its number), until none is `list_pending` but those that were done once: what cannot be
    done waits on. `process_block` returns None where somebody else is at a block; after `retry_seconds` seconds is looked again.
    PlumblineError where none can be done for long; `failure` says of what they are.
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
