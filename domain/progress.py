"""Progress of long tasks, as all packages report it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

Item = TypeVar("Item")
AdvanceProgress = Callable[[int], None]
ProgressTask = Callable[[str, int | None], AbstractContextManager[AdvanceProgress]]
"""(name, number of steps) -> context manager whose value is called with the number of completed steps."""


def no_progress(name: str, steps: int | None = None) -> AbstractContextManager[AdvanceProgress]:
    """Return a progress task that reports nothing."""
    return nullcontext(lambda steps: None)


def track(progress_task: ProgressTask, name: str, items: Sequence[Item]) -> Iterator[Item]:
    """Yield the items in a progress task, each as one step."""
    with progress_task(name, len(items)) as advance:
        for item in items:
            yield item
            advance(1)
