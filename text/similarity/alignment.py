"""Two texts laid beside each other, token by token: what both have, and the edits that make one of the other.

The alignment is the longest common subsequence of their tokens (rapidfuzz); equal beginnings and ends are cut off
before, so that two long texts that are nearly the same cost what differs.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from rapidfuzz.distance import Indel

from text.similarity.shingles import fold_tokens, tokenize

MAX_ALIGNED_TOKENS = 20_000  # tokens of a text between its beginning and end that the other has as well
MAX_MERGED_GAP = 2  # equal tokens between two edits that are one
MAX_SHIFT_TOKENS = 20  # tokens
MIN_ANCHOR_TOKENS = 8  # equal tokens in a row that are surely of the text itself


@dataclass(frozen=True)
class TokenizedText:
    """A text's tokens folded, each as it was `original_tokens`, and `line_breaks`: the places where a line begins or ends, in order,
    from 0 to the number of tokens.
    """

    tokens: list[str]
    original_tokens: list[str]
    line_breaks: list[int]

    def covers_whole_lines(self, start: int, end: int) -> bool:
        """Are the tokens from `start` to `end` whole lines, or none between two lines?"""
        return self.is_line_break(start) and self.is_line_break(end)

    def is_line_break(self, position: int) -> bool:
        """Does a line begin or end before the token at `position`?"""
        return self.line_breaks[bisect_left(self.line_breaks, position)] == position

    def line_number(self, position: int) -> int:
        """The number of the line that the token at `position` is in, from 0."""
        return min(bisect_right(self.line_breaks, position), len(self.line_breaks) - 1) - 1


@dataclass(frozen=True)
class Edit:
    """The tokens `start` to `end` of the one text, where the other has its tokens `other_start` to `other_end`."""

    start: int
    end: int
    other_start: int
    other_end: int


@dataclass(frozen=True)
class Alignment:
    """Two texts laid beside each other. What they surely share begins at `shared_start` and ends at `shared_end`, places in the one
    and in the other.
    """

    left: TokenizedText
    right: TokenizedText
    edits: tuple[Edit, ...]
    shared_start: tuple[int, int]
    shared_end: tuple[int, int]

    @property
    def shared_tokens(self) -> int:
        """How many tokens both have, in the same order."""
        return len(self.left.tokens) - sum(edit.end - edit.start for edit in self.edits)

    @property
    def total_tokens(self) -> int:
        """How many tokens they have together, shared ones once."""
        return len(self.left.tokens) + len(self.right.tokens) - self.shared_tokens


def tokenize_text(text: str) -> TokenizedText:
    """A text laid out for comparison."""
    original_tokens: list[str] = []
    breaks = {0: None}
    for line in text.split("\n"):
        original_tokens += tokenize(line)
        breaks[len(original_tokens)] = None
    return TokenizedText(fold_tokens(original_tokens), original_tokens, list(breaks))


def align(left: TokenizedText, right: TokenizedText) -> Alignment | None:
    """The two texts, aligned; None where they share no run of ANCHOR tokens, or where too much differs."""
    a, b = left.tokens, right.tokens
    start = common_prefix_length(a, b)
    end = min(common_prefix_length(a[::-1], b[::-1]), min(len(a), len(b)) - start)
    middle, other_middle = a[start : len(a) - end], b[start : len(b) - end]
    if max(len(middle), len(other_middle)) > MAX_ALIGNED_TOKENS:
        return None
    edits = list(snap_edits_to_lines(find_edits(middle, other_middle, start), left, right))
    anchors = [run for run in matching_runs(edits, len(a), len(b)) if run.end - run.start >= MIN_ANCHOR_TOKENS]
    if not anchors:
        return None
    first, last = anchors[0], anchors[-1]
    return Alignment(left, right, tuple(edits), (first.start, first.other_start), (last.end, last.other_end))


def common_prefix_length(a: Sequence[str], b: Sequence[str]) -> int:
    """How many tokens are the same from the first on."""
    return next((position for position, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def find_edits(a: Sequence[str], b: Sequence[str], offset: int = 0) -> list[Edit]:
    """Where two runs of tokens that both begin at `offset` differ; edits that nearly touch are one."""
    edits: list[Edit] = []
    for step in Indel.opcodes(a, b):
        if step.tag == "equal":
            continue
        start, other_start = step.src_start + offset, step.dest_start + offset
        if edits and start - edits[-1].end <= MAX_MERGED_GAP:
            last = edits.pop()
            start, other_start = last.start, last.other_start
        edits.append(Edit(start, step.src_end + offset, other_start, step.dest_end + offset))
    return edits


def snap_edits_to_lines(edits: Sequence[Edit], left: TokenizedText, right: TokenizedText) -> Iterator[Edit]:
    """The same edits; a run that only one text has is moved to whole lines where its tokens let it.

    Of `... is published` and `... is published / Not yet published`, the alignment may say that `published Not yet` was
    put in.
    """
    runs = matching_runs(edits, len(left.tokens), len(right.tokens))
    for edit, run, following in zip(edits, runs, runs[1:], strict=False):
        shifts = iter_shifts(edit, left, right, run.end - run.start, following.end - following.start)
        shifted_edits = (Edit(edit.start + n, edit.end + n, edit.other_start + n, edit.other_end + n) for n in shifts)
        lines = (
            e
            for e in shifted_edits
            if left.covers_whole_lines(e.start, e.end) and right.covers_whole_lines(e.other_start, e.other_end)
        )
        yield next(lines, edit)


def iter_shifts(
    edit: Edit, left: TokenizedText, right: TokenizedText, equal_before: int, equal_after: int
) -> Iterator[int]:
    """By how many tokens an edit can be moved that only adds to one text, with so many equal tokens around it."""
    if (edit.start == edit.end) == (edit.other_start == edit.other_end):
        return
    tokens, start, end = left.tokens, edit.start, edit.end
    if start == end:
        tokens, start, end = right.tokens, edit.other_start, edit.other_end
    forward_shifts, backward_shifts = (
        range(min(equal_after, MAX_SHIFT_TOKENS) + 1),
        range(-1, -min(equal_before, MAX_SHIFT_TOKENS) - 1, -1),
    )
    yield from takewhile(lambda n: n == 0 or tokens[start + n - 1] == tokens[end + n - 1], forward_shifts)
    yield from takewhile(lambda n: tokens[start + n] == tokens[end + n], backward_shifts)


def matching_runs(edits: Sequence[Edit], length: int, length2: int) -> list[Edit]:
    """What lies before, between and behind edits of texts so long: runs that both have."""
    runs, end, other_end = [], 0, 0
    for edit in (*edits, Edit(length, length, length2, length2)):
        runs.append(Edit(end, edit.start, other_end, edit.other_start))
        end, other_end = edit.end, edit.other_end
    return runs
