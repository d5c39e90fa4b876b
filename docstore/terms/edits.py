"""The changes that people make to terms."""

from dataclasses import dataclass
from enum import StrEnum

from docstore.model import TermClass, TermStatus


class ActKind(StrEnum):
    """What an act was."""

    DECIDE = "decide"
    MERGE = "merge"
    RENAME = "rename"
    CLASSIFY = "class"
    RELATE = "relate"
    SYNONYMS = "synonyms"
    ADD = "add"
    PROPOSE = "propose"
    REVERT = "revert"
    RETURN = "return"  # the miner's: a rejected term whose evidence has doubled
    UNDO = "undo"


@dataclass(frozen=True)
class TermEdit:
    """A change of one term; None leaves a part as it is.

    `seen` is the version of the term that it was made on, None for whichever there is. `adds` makes the term where
    there is none; `keeps` leaves one that there is.
    """

    text: str
    status: TermStatus | None = None
    category: TermClass | None = None
    synonyms: tuple[str, ...] | None = None
    broader: tuple[str, ...] | None = None
    weight: int | None = None
    tag: str | None = None
    seen: int | None = None
    adds: bool = False
    keeps: bool = False
