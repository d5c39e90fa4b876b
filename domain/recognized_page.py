"""Pages of documents whose text optical character recognition (OCR) read from their picture."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RecognizedLine:
    """A line of text; positions in points from the lower left corner of the page, `confidence` 0 to 1."""

    text: str
    left: float
    right: float
    top: float
    bottom: float
    confidence: float


@dataclass(frozen=True)
class RecognizedPage:
    """A page that OCR has processed, `number` from 1; size in points, lines in reading order, none if unreadable."""

    number: int
    width: float = 0.0
    height: float = 0.0
    lines: tuple[RecognizedLine, ...] = ()

    @property
    def confidence(self) -> float:
        """Mean confidence of the characters, 0 to 1; 0 without text."""
        char_count = sum(len(line.text) for line in self.lines)
        return sum(line.confidence * len(line.text) for line in self.lines) / char_count if char_count else 0.0
