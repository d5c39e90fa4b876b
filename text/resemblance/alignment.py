"""Two texts laid beside each other, token by token: what both have, and the edits that make one of the other.

The alignment is the longest common subsequence of their tokens (rapidfuzz); equal beginnings and ends are cut off
before, so that two long texts that are nearly the same cost what differs.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from rapidfuzz.distance import Indel

from text.resemblance.shingles import folded_tokens, written_tokens

MAX_ALIGNED = 20_000  # tokens of a text between its beginning and end that the other has as well
GAP = 2  # equal tokens between two edits that are one
MAX_MOVED = 20  # tokens
ANCHOR = 8  # equal tokens in a row that are surely of the text itself


@dataclass(frozen=True)
class Words:
    """A text's tokens folded, each as it was `written`, and `breaks`: the places where a line begins or ends, in order,
    from 0 to the number of tokens.
    """

    tokens: list[str]
    written: list[str]
    breaks: list[int]

    def are_lines(self, start: int, end: int) -> bool:
        """Are the tokens from `start` to `end` whole lines, or none between two lines?"""
        return self.is_break(start) and self.is_break(end)

    def is_break(self, place: int) -> bool:
        """Does a line begin or end before the token at `place`?"""
        return self.breaks[bisect_left(self.breaks, place)] == place

    def line_at(self, place: int) -> int:
        """The number of the line that the token at `place` is in, from 0."""
        return min(bisect_right(self.breaks, place), len(self.breaks) - 1) - 1


@dataclass(frozen=True)
class Edit:
    """The tokens `start` to `end` of the one text, where the other has its tokens `start2` to `end2`."""

    start: int
    end: int
    start2: int
    end2: int


@dataclass(frozen=True)
class Pair:
    """Two texts laid beside each other. What they surely share begins at `head` and ends at `tail`, places in the one
    and in the other.
    """

    one: Words
    other: Words
    edits: tuple[Edit, ...]
    head: tuple[int, int]
    tail: tuple[int, int]

    @property
    def shared(self) -> int:
        """How many tokens both have, in the same order."""
        return len(self.one.tokens) - sum(edit.end - edit.start for edit in self.edits)

    @property
    def all(self) -> int:
        """How many tokens they have together, shared ones once."""
        return len(self.one.tokens) + len(self.other.tokens) - self.shared


def words_of(text: str) -> Words:
    """A text laid out for comparison."""
    written: list[str] = []
    breaks = {0: None}
    for line in text.split("\n"):
        written += written_tokens(line)
        breaks[len(written)] = None
    return Words(folded_tokens(written), written, list(breaks))


def laid_beside(one: Words, other: Words) -> Pair | None:
    """The two texts, aligned; None where they share no run of ANCHOR tokens, or where too much differs."""
    a, b = one.tokens, other.tokens
    start = first_difference(a, b)
    end = min(first_difference(a[::-1], b[::-1]), min(len(a), len(b)) - start)
    middle, middle2 = a[start : len(a) - end], b[start : len(b) - end]
    if max(len(middle), len(middle2)) > MAX_ALIGNED:
        return None
    edits = list(moved_to_lines(edits_of(middle, middle2, start), one, other))
    anchors = [run for run in equal_runs(edits, len(a), len(b)) if run.end - run.start >= ANCHOR]
    if not anchors:
        return None
    first, last = anchors[0], anchors[-1]
    return Pair(one, other, tuple(edits), (first.start, first.start2), (last.end, last.end2))


def first_difference(a: Sequence[str], b: Sequence[str]) -> int:
    """How many tokens are the same from the first on."""
    return next((place for place, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def edits_of(a: Sequence[str], b: Sequence[str], offset: int = 0) -> list[Edit]:
    """Where two runs of tokens that both begin at `offset` differ; edits that nearly touch are one."""
    found: list[Edit] = []
    for step in Indel.opcodes(a, b):
        if step.tag == "equal":
            continue
        start, start2 = step.src_start + offset, step.dest_start + offset
        if found and start - found[-1].end <= GAP:
            last = found.pop()
            start, start2 = last.start, last.start2
        found.append(Edit(start, step.src_end + offset, start2, step.dest_end + offset))
    return found


def moved_to_lines(edits: Sequence[Edit], one: Words, other: Words) -> Iterator[Edit]:
    """The same edits; a run that only one text has is moved to whole lines where its tokens let it.

    Of `... is published` and `... is published / Not yet published`, the alignment may say that `published Not yet` was
    put in.
    """
    runs = equal_runs(edits, len(one.tokens), len(other.tokens))
    for edit, run, following in zip(edits, runs, runs[1:], strict=False):
        shifts = shifts_of(edit, one, other, run.end - run.start, following.end - following.start)
        moved = (Edit(edit.start + n, edit.end + n, edit.start2 + n, edit.end2 + n) for n in shifts)
        lines = (e for e in moved if one.are_lines(e.start, e.end) and other.are_lines(e.start2, e.end2))
        yield next(lines, edit)


def shifts_of(edit: Edit, one: Words, other: Words, before: int, after: int) -> Iterator[int]:
    """By how many tokens an edit can be moved that only adds to one text, with so many equal tokens around it."""
    if (edit.start == edit.end) == (edit.start2 == edit.end2):
        return
    tokens, start, end = one.tokens, edit.start, edit.end
    if start == end:
        tokens, start, end = other.tokens, edit.start2, edit.end2
    right, left = range(min(after, MAX_MOVED) + 1), range(-1, -min(before, MAX_MOVED) - 1, -1)
    yield from takewhile(lambda n: n == 0 or tokens[start + n - 1] == tokens[end + n - 1], right)
    yield from takewhile(lambda n: tokens[start + n] == tokens[end + n], left)


def equal_runs(edits: Sequence[Edit], length: int, length2: int) -> list[Edit]:
    """What lies before, between and behind edits of texts so long: runs that both have."""
    runs, end, end2 = [], 0, 0
    for edit in (*edits, Edit(length, length, length2, length2)):
        runs.append(Edit(end, edit.start, end2, edit.start2))
        end, end2 = edit.end, edit.end2
    return runs
