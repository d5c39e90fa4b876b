"""Decide whether two articles are duplicates, or versions or members of a series.

A duplicate is the same text with other surroundings: site names, bylines, notices and captions differ, an end may be
missing, a word may be spelled differently. A version or member of a series is written from the same template: numbers,
dates, names or words inside the shared text are replaced. The texts are aligned, and each difference is classified:

    NUMBERS      other numbers or dates within shared words, or numbers that only one text has there
    NAMES        other names, or other words of several characters
    WORDING      a word or a clause; a few are an editor's changes if both texts were published within days
    SPELLING     another spelling: centre and center, to day and today
    BOILERPLATE  lines before or after the text, or a text that ends early
    DATE_LINE    another date in a line of its own; ignored in texts of some length published within days
    TITLE        a completely different title

Texts are compared as tokens (text/similarity/shingles.py). Pure and symmetric.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from functools import cached_property
from hashlib import blake2b

import numpy
from rapidfuzz.distance import OSA

from text.similarity.alignment import Alignment, Edit, TokenizedText, align, find_edits, tokenize_text
from text.similarity.number_tokens import are_equal_numbers, has_digit, has_year, is_date_token, is_number
from text.similarity.shingles import SHINGLE_SIZE, shingle_hashes

ALGORITHM_VERSION = 2  # increase it if other texts become duplicates; all articles are then grouped again
MIN_SHARED_SHARE = 0.5  # of all tokens of both texts
MAX_BOILERPLATE_SHARED_SHARE = 0.4  # a beginning or end with less shared text is boilerplate
MAX_NEAR_DAYS = 7
MAX_COMPARED_CHARS = 500_000  # the rest of a longer text must be equal; its tokens would need hundreds of megabytes
TOKENS_PER_EDIT = 60  # a text of this length may have one edit, of twice the length two
MAX_EDITS = 3
REWRITE_TOKENS = 8
MIN_RETITLED_TOKENS = 150  # shorter texts under another title or date may be boilerplate of many pages
MIN_TITLE_SHARED_SHARE = 0.5  # minimum shared part of titles from one template
MAX_BOILERPLATE_TOKENS = 150  # around a text
MAX_CUT_DIVISOR = 3  # maximum part missing in a cut copy, as a divisor of the shared tokens
RETITLED_BOILERPLATE_DIVISOR = 4  # the same for boilerplate under another title
DATE_LINE_EDGE_LINES = 3  # distance from the first or last line
MAX_DATE_LINE_TOKENS = 24
MAX_DATE_LINE_WORDS = 4  # tokens besides the date, as in 发布时间
MIN_SPELLING_LETTERS = 5
KEY_WINDOWS = 8
KEY_WINDOW_TOKENS = 16  # on each side of a shingle
NUMBERS_DIFFER_REASON = "numbers or dates differ"
CONTEXT_TOKENS = 3  # shown before a difference


class DifferenceKind(StrEnum):
    """Kind of a difference between two texts."""

    NUMBERS = "numbers"
    NAMES = "names"
    WORDING = "wording"
    SPELLING = "spelling"
    DATE_LINE = "stamp"
    BOILERPLATE = "frame"
    TITLE = "title"


@dataclass(frozen=True)
class TextDifference:
    """A difference between two texts.

    Attributes:
        context: shared tokens before the difference.
        left: text in the left article.
        right: text in the right article.
        left_tokens: number of tokens of `left`.
        right_tokens: number of tokens of `right`.
    """

    kind: DifferenceKind
    context: str
    left: str
    right: str
    left_tokens: int
    right_tokens: int

    @property
    def edit_count(self) -> int:
        """Number of editor's changes that it counts as. A long replacement counts several times."""
        rewritten = (
            max(self.left_tokens, self.right_tokens) // REWRITE_TOKENS if self.left_tokens and self.right_tokens else 0
        )
        return 1 + rewritten if self.kind is DifferenceKind.WORDING else 0


@dataclass(frozen=True)
class DuplicateVerdict:
    """Whether two texts are duplicates, the reason in a few words, and their differences in order."""

    is_duplicate: bool
    reason: str
    differences: tuple[TextDifference, ...] = ()


@dataclass(frozen=True)
class ComparedArticle:
    """An article to compare: title, body (one line per paragraph), and ISO publication date ("" if unknown)."""

    title: str
    body: str
    published_on: str = ""

    @cached_property
    def tokenized_body(self) -> TokenizedText:
        """The tokens of the first MAX_COMPARED_CHARS of the body."""
        return tokenize_text(self.body[:MAX_COMPARED_CHARS])

    @cached_property
    def duplicate_keys(self) -> tuple[int, ...]:
        return duplicate_keys(self.tokenized_body.tokens)

    def is_duplicate_of(self, right: "ComparedArticle") -> bool:
        return compare_articles(self, right).is_duplicate


def compare_articles(left: ComparedArticle, right: ComparedArticle, max_decisive: int = 1) -> DuplicateVerdict:
    """Compare two articles.

    The search stops after `max_decisive` differences of which each proves that they are not duplicates.
    """
    # Order the texts, so that the alignment does not depend on the order of the arguments.
    if (right.tokenized_body.tokens, right.title) < (left.tokenized_body.tokens, left.title):
        swapped_verdict = compare_articles(right, left, max_decisive)
        swapped_differences = tuple(
            replace(d, left=d.right, right=d.left, left_tokens=d.right_tokens, right_tokens=d.left_tokens)
            for d in swapped_verdict.differences
        )
        return DuplicateVerdict(swapped_verdict.is_duplicate, swapped_verdict.reason, swapped_differences)
    titles = tuple(iter_title_differences(tokenize_text(left.title), tokenize_text(right.title)))
    if left.body[MAX_COMPARED_CHARS:] != right.body[MAX_COMPARED_CHARS:]:
        return DuplicateVerdict(False, "the ends of long texts differ", titles)
    if max_decisive == 1 and any(difference.kind is DifferenceKind.NUMBERS for difference in titles):
        return DuplicateVerdict(False, NUMBERS_DIFFER_REASON, titles)
    pair = align(left.tokenized_body, right.tokenized_body)
    if pair is None or pair.shared_tokens < MIN_SHARED_SHARE * pair.total_tokens:
        return DuplicateVerdict(False, "too little text is shared", titles)
    bodies = tuple(iter_until_decided(iter_body_differences(pair), max_decisive))
    rejection = difference_reason(
        titles, bodies, pair.shared_tokens, days_between(left.published_on, right.published_on)
    )
    return DuplicateVerdict(not rejection, rejection or "same text", titles + bodies)


def iter_until_decided(differences: Iterable[TextDifference], max_decisive: int) -> Iterator[TextDifference]:
    """Yield the differences up to the `max_decisive`-th decisive one."""
    for difference in differences:
        yield difference
        max_decisive -= difference.kind in (DifferenceKind.NUMBERS, DifferenceKind.NAMES)
        if not max_decisive:
            return


def difference_reason(
    titles: Sequence[TextDifference], bodies: Sequence[TextDifference], shared: int, days: int | None
) -> str:
    """Return the reason why two articles are not duplicates, "" if they are.

    Args:
        titles: differences of the titles.
        bodies: differences of the bodies.
        shared: number of shared tokens.
        days: days between the publication dates, None if unknown.
    """
    is_near = days is not None and days <= MAX_NEAR_DAYS
    kinds = Counter(difference.kind for difference in bodies)
    replacements = Counter((d.left, d.right) for d in bodies if d.kind is DifferenceKind.WORDING and d.left and d.right)
    if kinds[DifferenceKind.NUMBERS] or any(difference.kind is DifferenceKind.NUMBERS for difference in titles):
        return NUMBERS_DIFFER_REASON
    if kinds[DifferenceKind.NAMES] or max(replacements.values(), default=0) > 1:
        return "names differ"
    if kinds[DifferenceKind.DATE_LINE] and not (is_near and shared >= MIN_RETITLED_TOKENS):
        return "the date lines differ"
    if titles and not may_be_retitled(titles, shared, is_near):
        return "the titles differ"
    if shared < MIN_RETITLED_TOKENS and not is_near and days is not None:
        return "short, and published on different dates"
    if has_extra_parts(bodies, shared, is_near, bool(titles)):
        return "only one contains a part"
    edits = sum(difference.edit_count for difference in bodies)
    allowed = min(MAX_EDITS, shared // TOKENS_PER_EDIT) if is_near else 0
    return "words differ" if edits and edits + bool(titles) > allowed else ""


def has_extra_parts(bodies: Sequence[TextDifference], shared: int, is_near: bool, is_retitled: bool) -> bool:
    """True if there is too much boilerplate around the texts.

    One text may have more if both were published within days under one title: the other one was then cut.
    """
    frames = [difference for difference in bodies if difference.kind is DifferenceKind.BOILERPLATE]
    sizes = sum(difference.left_tokens for difference in frames), sum(difference.right_tokens for difference in frames)
    max_boilerplate = (
        min(MAX_BOILERPLATE_TOKENS, shared // RETITLED_BOILERPLATE_DIVISOR) if is_retitled else MAX_BOILERPLATE_TOKENS
    )
    max_cut = shared // MAX_CUT_DIVISOR if is_near and not is_retitled else 0
    return min(sizes) > max_boilerplate or max(sizes) > max(max_boilerplate, max_cut)


def may_be_retitled(titles: Sequence[TextDifference], shared: int, is_near: bool) -> bool:
    """True if the titles of one article may differ as these do.

    A replaced part in a title distinguishes two articles, unless they were published within days. With a completely
    different title, a short text may be boilerplate of many pages.
    """
    if any(difference.kind is not DifferenceKind.TITLE for difference in titles):
        return is_near and shared >= TOKENS_PER_EDIT
    return shared >= MIN_RETITLED_TOKENS


def days_between(left: str, right: str) -> int | None:
    """Return the days between two ISO dates, or None if one is not known to the day."""
    try:
        return abs((date.fromisoformat(left) - date.fromisoformat(right)).days)
    except ValueError:
        return None


# -- classifying differences


def iter_body_differences(pair: Alignment) -> Iterator[TextDifference]:
    """Iterate over the classified differences of two bodies, in order."""
    head, tail = detect_boilerplate(pair)
    for edit in pair.edits:
        in_frame = (head and edit.end <= pair.shared_start[0]) or (tail and edit.start >= pair.shared_end[0])
        kind = DifferenceKind.BOILERPLATE if in_frame else classify_edit(pair, edit)
        yield describe_difference(pair.left, pair.right, edit, kind)


def describe_difference(left: TokenizedText, right: TokenizedText, edit: Edit, kind: DifferenceKind) -> TextDifference:
    """Describe an edit as a TextDifference."""
    before = left.tokens[max(0, edit.start - CONTEXT_TOKENS) : edit.start]
    left_tokens, right_tokens = left.tokens[edit.start : edit.end], right.tokens[edit.other_start : edit.other_end]
    return TextDifference(
        kind, " ".join(before), " ".join(left_tokens), " ".join(right_tokens), len(left_tokens), len(right_tokens)
    )


def detect_boilerplate(pair: Alignment) -> tuple[bool, bool]:
    """Detect whether the beginnings and the ends are boilerplate of two sites.

    Boilerplate has little in common. Both texts begin on a new line; one may end within a line.
    """
    (left_head, right_head), (left_tail, right_tail) = pair.shared_start, pair.shared_end
    starts_line = pair.left.is_line_break(left_head) and pair.right.is_line_break(right_head)
    ends_line = pair.left.is_line_break(left_tail) or pair.right.is_line_break(right_tail)
    ends = (len(pair.left.tokens), len(pair.right.tokens))
    return (
        starts_line and are_mostly_different(pair, (0, 0), (left_head, right_head)),
        ends_line and are_mostly_different(pair, (left_tail, right_tail), ends),
    )


def are_mostly_different(pair: Alignment, start: tuple[int, int], end: tuple[int, int]) -> bool:
    """True if both texts have tokens between these positions and share few of them."""
    left_length, right_length = end[0] - start[0], end[1] - start[1]
    changed = sum(edit.end - edit.start for edit in pair.edits if start[0] <= edit.start and edit.end <= end[0])
    return min(left_length, right_length) > 0 and 2 * (left_length - changed) < MAX_BOILERPLATE_SHARED_SHARE * (
        left_length + right_length
    )


def classify_edit(pair: Alignment, edit: Edit) -> DifferenceKind:
    """Classify a difference of two bodies."""
    left_tokens, right_tokens = (
        pair.left.tokens[edit.start : edit.end],
        pair.right.tokens[edit.other_start : edit.other_end],
    )
    if are_spelling_variants(left_tokens, right_tokens) or (
        all(map(is_number, (*left_tokens, *right_tokens))) and are_equal_numbers(left_tokens, right_tokens)
    ):
        return DifferenceKind.SPELLING
    if is_date_line(pair.left, edit.start, edit.end) and is_date_line(pair.right, edit.other_start, edit.other_end):
        return (
            DifferenceKind.DATE_LINE
            if any(map(is_number, left_tokens)) and any(map(is_number, right_tokens))
            else DifferenceKind.BOILERPLATE
        )
    if not (left_tokens and right_tokens):
        return classify_addition(pair, edit, left_tokens or right_tokens)
    is_edge = edit.end <= pair.shared_start[0] or edit.start >= pair.shared_end[0]
    kind = classify_replacement(left_tokens, right_tokens, is_edge)
    return DifferenceKind.NAMES if kind is DifferenceKind.WORDING and changes_names(pair, edit) else kind


def changes_names(pair: Alignment, edit: Edit) -> bool:
    """True if only one text has a capitalized word there that is not written in lower case elsewhere."""
    left_tokens, right_tokens = (
        pair.left.original_tokens[edit.start : edit.end],
        pair.right.original_tokens[edit.other_start : edit.other_end],
    )
    capitals = [
        token
        for token in Counter(left_tokens) - Counter(right_tokens) | Counter(right_tokens) - Counter(left_tokens)
        if token[0].isupper() and len(token) > 1
    ]
    if not capitals:
        return False
    lower_case_tokens = {*pair.left.original_tokens, *pair.right.original_tokens}
    return any(token.lower() not in lower_case_tokens for token in capitals)


def classify_addition(pair: Alignment, edit: Edit, added: Sequence[str]) -> DifferenceKind:
    """Classify a run of tokens that only one text has."""
    is_head, is_tail = edit.end <= pair.shared_start[0], edit.start >= pair.shared_end[0]
    are_lines = pair.left.covers_whole_lines(edit.start, edit.end) and pair.right.covers_whole_lines(
        edit.other_start, edit.other_end
    )
    if are_lines and (is_head or is_tail):
        return DifferenceKind.BOILERPLATE
    if edit.start == len(pair.left.tokens) or edit.other_start == len(pair.right.tokens):
        return DifferenceKind.BOILERPLATE  # one text ends early
    has_numbers = any(map(has_digit, added))
    if has_numbers and not (are_lines or is_head or is_tail):
        return DifferenceKind.NUMBERS
    return DifferenceKind.WORDING


def classify_replacement(
    left_tokens: Sequence[str], right_tokens: Sequence[str], is_edge: bool = False
) -> DifferenceKind:
    """Classify the replacement of `left_tokens` by `right_tokens`."""
    left_numbers, right_numbers = list(filter(is_number, left_tokens)), list(filter(is_number, right_tokens))
    if not are_equal_numbers(left_numbers, right_numbers):
        if left_numbers and right_numbers:
            return DifferenceKind.NUMBERS
        if any(map(has_digit, left_numbers + right_numbers)):
            return DifferenceKind.WORDING if is_edge else DifferenceKind.NUMBERS
    chinese = max(sum(map(is_cjk_token, left_tokens)), sum(map(is_cjk_token, right_tokens)))
    return DifferenceKind.NAMES if chinese > 1 else DifferenceKind.WORDING


def is_cjk_token(token: str) -> bool:
    """True if the token is a single Chinese or Japanese character."""
    return token[0] > "\u3040"


def are_spelling_variants(left_tokens: Sequence[str], right_tokens: Sequence[str]) -> bool:
    """True if both sides have the same letters (to day, today) or differ by one typing error.

    One typing error is a changed, missing, added or transposed letter. It does not count in texts with digits, with
    Chinese characters, or with fewer than MIN_SPELLING_LETTERS letters, where it may change the meaning.
    """
    left_text, right_text = "".join(left_tokens), "".join(right_tokens)
    if left_text == right_text:
        return True
    if (
        min(len(left_text), len(right_text)) < MIN_SPELLING_LETTERS
        or has_digit(left_text)
        or has_digit(right_text)
        or any(map(is_cjk_token, (*left_tokens, *right_tokens)))
    ):
        return False
    return OSA.distance(left_text, right_text, score_cutoff=1) <= 1  # optimal string alignment


def is_date_line(words: TokenizedText, start: int, end: int) -> bool:
    """True if the tokens are in a line near the beginning or end that contains little more than a date."""
    first, last = words.line_number(start), words.line_number(max(start, end - 1))
    lines = len(words.line_breaks) - 1
    line = words.tokens[words.line_breaks[first] : words.line_breaks[first + 1]]
    if (
        first != last
        or DATE_LINE_EDGE_LINES <= first < lines - DATE_LINE_EDGE_LINES
        or len(line) > MAX_DATE_LINE_TOKENS
    ):
        return False
    dates = [token for token in line if is_date_token(token)]
    return has_year(line) and len(dates) >= 3 and len(line) - len(dates) <= MAX_DATE_LINE_WORDS


def iter_title_differences(left: TokenizedText, right: TokenizedText) -> Iterator[TextDifference]:
    """Iterate over the replaced parts of two titles, or yield the whole titles if they share too little."""
    if not left.tokens or not right.tokens or is_prefix_or_suffix(*sorted((left.tokens, right.tokens), key=len)):
        return
    edits = find_edits(left.tokens, right.tokens)
    shared = len(left.tokens) - sum(edit.end - edit.start for edit in edits)
    if 2 * shared < MIN_TITLE_SHARED_SHARE * (len(left.tokens) + len(right.tokens)):
        yield describe_difference(left, right, Edit(0, len(left.tokens), 0, len(right.tokens)), DifferenceKind.TITLE)
        return
    for edit in edits:
        left_tokens, right_tokens = left.tokens[edit.start : edit.end], right.tokens[edit.other_start : edit.other_end]
        if left_tokens and right_tokens and not are_spelling_variants(left_tokens, right_tokens):
            yield describe_difference(left, right, edit, classify_replacement(left_tokens, right_tokens))


def is_prefix_or_suffix(short: Sequence[str], long: Sequence[str]) -> bool:
    """True if `long` begins or ends with `short`, as a title with a site name does."""
    return short in (long[: len(short)], long[len(long) - len(short) :])


# -- lookup keys of duplicates


def duplicate_keys(tokens: Sequence[str]) -> tuple[int, ...]:
    """Compute 64-bit (signed) keys that find the duplicates of a text among thousands of nearly equal texts.

    One key covers all tokens, the others the tokens around the KEY_WINDOWS shingles with the lowest hashes. If a
    duplicate is cut or has other boilerplate, most windows stay intact. In a series, nearly every window contains a
    changed number.
    """
    keys = {token_run_key(tokens)}
    hashes = shingle_hashes(tokens)
    for position in numpy.argsort(hashes, kind="stable")[:KEY_WINDOWS].tolist():
        keys.add(
            token_run_key(tokens[max(0, position - KEY_WINDOW_TOKENS) : position + SHINGLE_SIZE + KEY_WINDOW_TOKENS])
        )
    return tuple(sorted(keys))


def token_run_key(tokens: Sequence[str]) -> int:
    """Hash a run of tokens to 64 bits (signed)."""
    text = "\0".join(tokens).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8, person=b"window").digest(), "big", signed=True)
