"""Work that the store cuts into blocks, done by many workers: each block by whoever holds its lease."""

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from docstore.errors import PlumblineError
from pipeline.engines.contract import WorkEngine

R = TypeVar("R")
MAX_VAIN = 20  # looks in a row, a heartbeat apart, that found blocks pending and none that could be done


def by_blocks(
    work: WorkEngine, do: Callable[[int], R | None], pending: Callable[[], list[int]], beat: float, what: str
) -> Iterator[R]:
    """What `do` makes of each block (its number), until none is `pending` but those that were done once: what cannot be
    done waits on. `do` returns None where somebody else is at a block; after `beat` seconds is looked again.
    PlumblineError where none can be done for long; `what` says of what they are.
    """
    done, vain = set[int](), 0
    while waiting := [number for number in pending() if number not in done]:
        before = len(done)
        for number, result in work.each(do, waiting):
            if result is not None:
                done.add(number)
                yield result
        vain = vain + 1 if len(done) == before else 0
        if vain == MAX_VAIN:
            raise PlumblineError(f"{len(waiting)} blocks of {what}: see the logs of the workers")
        if vain:
            time.sleep(beat)
