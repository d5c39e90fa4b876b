"""Results of the faults of one class."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Tally:
    """Counts of one class.

    `survived`: faults after which all checks passed. `lost`, `duplicates`: rows or documents. `detected`: faults that
    were reported. A value is None if the class does not measure it.
    """

    name: str
    tried: int = 0
    survived: int = 0
    lost: int = 0
    duplicates: int = 0
    detected: int | None = None
    connections: int | None = None
    p95_ratio: float | None = None
    peak_mb: float | None = None
    worst_s: float = 0.0
    figures: dict[str, float] = field(default_factory=dict)  # metrics of this class only
    complaints: list[str] = field(default_factory=list)

    @contextmanager
    def trying(self, what: str) -> Iterator[None]:
        """Count one fault; it is survived unless the block raises."""
        self.tried += 1
        began = time.monotonic()
        try:
            yield
        except Exception as error:  # noqa: BLE001 (every error is one line of the table)
            self.complaints.append(f"{self.name}, {what}: {type(error).__name__} {' '.join(str(error).split())[:300]}")
        else:
            self.survived += 1
        self.worst_s = max(self.worst_s, time.monotonic() - began)

    def add(self, other: "Tally") -> None:
        """Add the counts, figures and complaints of another tally of this class."""
        self.tried += other.tried
        self.survived += other.survived
        self.lost += other.lost
        self.duplicates += other.duplicates
        self.worst_s = max(self.worst_s, other.worst_s)
        self.complaints += other.complaints
        for metric, value in other.figures.items():
            self.figures[metric] = self.figures.get(metric, 0.0) + value

    def account(self, wanted: set[str], found: list[str], what: str) -> None:
        """Compare ids or URLs with the expected ones."""
        lost, more = len(wanted - set(found)), len(found) - len(set(found))
        self.lost += lost
        self.duplicates += more
        assert not lost and not more and set(found) == wanted, f"{what}: {lost} lost, {more} twice"

    def said(self, is_said: object) -> None:
        """Count a detected fault."""
        self.detected = (self.detected or 0) + bool(is_said)

    def measures(self) -> Iterator[tuple[str, float]]:
        """Yield (metric, value)."""
        for name in ("tried", "survived", "lost", "duplicates", "detected", "connections", "p95_ratio", "peak_mb"):
            value = getattr(self, name)
            if value is not None:
                yield name, float(value)
        yield from self.figures.items()
        yield "worst_s", round(self.worst_s, 3)
