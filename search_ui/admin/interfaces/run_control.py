"""What the administration pages show and change about runs. `pipeline` provides the implementation."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class RunStatus:
    """The state of the runs of a vertical.

    Attributes:
        is_running: A run is active.
        can_stop: The run can be stopped from here: it is a process of this machine.
        is_scheduler_running: `plumb schedule` is running.
        daily_at: Local time of the daily run, as HH:MM.
        is_starting: The first run was started within the last minute, but is not active yet.
        failure: Why the last run failed, or why the first one ended before it was active; "" if it did not, or if a run
            is active.
        next_run_at: Next scheduled run in epoch seconds; None without a scheduler.
    """

    is_running: bool
    can_stop: bool
    is_scheduler_running: bool
    daily_at: str
    next_run_at: float | None = None
    is_starting: bool = False
    failure: str = ""


@dataclass(frozen=True)
class RunCounts:
    """Known URLs, saved pages, articles, and articles that a search finds."""

    known_urls: int = 0
    saved_pages: int = 0
    articles: int = 0
    searchable: int = 0


class RunControl(Protocol):
    """The service that starts and stops runs of the vertical."""

    def status(self) -> RunStatus:
        """Return the state of the runs."""

    def counts(self) -> RunCounts:
        """Return how far the vertical is."""

    def start(self, account: str) -> None:
        """Start a run and record it. Raises PlumblineError if a run is active or the new one ends at once."""

    def stop(self, account: str) -> bool:
        """Request the end of the active run and record it. Returns False if there is none that can be stopped."""
