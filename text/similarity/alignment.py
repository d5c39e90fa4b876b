"""Align two texts token by token: shared tokens, and the edits between them.

The alignment is the longest common subsequence of the tokens (rapidfuzz). Common prefixes and suffixes are removed
first, so the cost of two nearly equal long texts depends on their differences.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from rapidfuzz.distance import Indel

from text.similarity.shingles import fold_tokens, split_tokens

MAX_ALIGNED_TOKENS = 20_000  # tokens per text, without common prefix and suffix
MAX_MERGED_GAP = 2  # equal tokens between two edits that are merged
MAX_SHIFT_TOKENS = 20
MIN_ANCHOR_TOKENS = 8  # equal tokens in a row that surely belong to both texts


@dataclass(frozen=True)
class TokenizedText:
    """The tokens of a text.

    Attributes:
        tokens: folded tokens.
        original_tokens: the same tokens as written.
        line_breaks: token positions at which a line begins or ends, ascending, from 0 to the number of tokens.
    """

    tokens: list[str]
    original_tokens: list[str]
    line_breaks: list[int]

    def covers_whole_lines(self, start: int, end: int) -> bool:
        """True if the tokens from `start` to `end` are whole lines, or an empty range between two lines."""
        return self.is_line_break(start) and self.is_line_break(end)

    def is_line_break(self, position: int) -> bool:
        """True if a line begins or ends before the token at `position`."""
        return self.line_breaks[bisect_left(self.line_breaks, position)] == position

    def line_number(self, position: int) -> int:
        """Return the number of the line with the token at `position`, from 0."""
        return min(bisect_right(self.line_breaks, position), len(self.line_breaks) - 1) - 1


@dataclass(frozen=True)
class Edit:
    """The tokens `start` to `end` of the left text replace `other_start` to `other_end` of the right text."""

    start: int
    end: int
    other_start: int
    other_end: int


@dataclass(frozen=True)
class Alignment:
    """Two aligned texts.

    `shared_start` and `shared_end` are the token positions (left, right) between which the texts surely correspond.
    """

    left: TokenizedText
    right: TokenizedText
    edits: tuple[Edit, ...]
    shared_start: tuple[int, int]
    shared_end: tuple[int, int]

    @property
    def shared_tokens(self) -> int:
        """Number of tokens that both texts have, in the same order."""
        return len(self.left.tokens) - sum(edit.end - edit.start for edit in self.edits)

    @property
    def total_tokens(self) -> int:
        """Number of tokens of both texts, with shared ones counted once."""
        return len(self.left.tokens) + len(self.right.tokens) - self.shared_tokens


def tokenize_text(text: str) -> TokenizedText:
    """Tokenize a text for comparison."""
    original_tokens, interned_tokens = list[str](), dict[str, str]()
    breaks = {0: None}
    for line in text.split("\n"):
        tokens = split_tokens(line)
        original_tokens += map(interned_tokens.setdefault, tokens, tokens)
        breaks[len(original_tokens)] = None
    return TokenizedText(fold_tokens(original_tokens), original_tokens, list(breaks))


def align(left: TokenizedText, right: TokenizedText) -> Alignment | None:
    """Align two texts. Returns None without a shared run of MIN_ANCHOR_TOKENS tokens, or if too much differs."""
    a, b = left.tokens, right.tokens
    start = common_prefix_length(a, b)
    end = min(common_prefix_length(reversed(a), reversed(b)), min(len(a), len(b)) - start)
    middle, other_middle = a[start : len(a) - end], b[start : len(b) - end]
    if max(len(middle), len(other_middle)) > MAX_ALIGNED_TOKENS:
        return None
    edits = list(snap_edits_to_lines(find_edits(middle, other_middle, start), left, right))
    anchors = [run for run in matching_runs(edits, len(a), len(b)) if run.end - run.start >= MIN_ANCHOR_TOKENS]
    if not anchors:
        return None
    first, last = anchors[0], anchors[-1]
    return Alignment(left, right, tuple(edits), (first.start, first.other_start), (last.end, last.other_end))


def common_prefix_length(a: Iterable[str], b: Iterable[str]) -> int:
    """Return the number of equal tokens at the start."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def find_edits(a: Sequence[str], b: Sequence[str], offset: int = 0) -> list[Edit]:
    """Find the edits between two runs of tokens that both begin at `offset`. Edits with small gaps are merged."""
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
    """Move one-sided edits to whole lines, if their tokens allow it.

    For `... is published` and `... is published / Not yet published`, the alignment may report that `published Not yet`
    was inserted.
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
    """Yield the token counts by which a one-sided edit can be moved.

    Args:
        equal_before: number of equal tokens before the edit.
        equal_after: number of equal tokens after it.
    """
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


def matching_runs(edits: Sequence[Edit], left_length: int, right_length: int) -> list[Edit]:
    """Return the shared runs before, between and after the edits."""
    runs, end, other_end = [], 0, 0
    for edit in (*edits, Edit(left_length, left_length, right_length, right_length)):
        runs.append(Edit(end, edit.start, other_end, edit.other_start))
        end, other_end = edit.end, edit.other_end
    return runs
