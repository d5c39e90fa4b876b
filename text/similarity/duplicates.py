"""Is a text another one published again, or a version of it, or one of its series?

A copy is the same text in another frame: site names, bylines, notices and captions differ, an end may be cut off, a
word be spelt otherwise. A version or one of a series is written anew in the same mould: inside what both share,
numbers, dates, names or words are exchanged. So the two are laid beside each other, and each difference is judged:

    NUMBERS    other numbers or dates where the words around are shared, or numbers that only one has among them
    NAMES      other names, or other words of several characters
    WORDING    a word or a clause; a few are an editor's where both texts were published within days
    SPELLING   the same, otherwise spelt: centre and center, to day and today
    FRAME      lines before or behind, a text that ends early
    STAMP      another day, in a line of its own: the site's, where a text of some length is of the same days
    TITLE      quite another title

Texts are seen as tokens (text/similarity/shingles.py). Pure, and the same for (a, b) as for (b, a).
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

from text.number_tokens import are_equal_numbers, has_digit, has_year, is_date_token, is_number
from text.similarity.alignment import Alignment, Edit, TokenizedText, align, find_edits, tokenize_text
from text.similarity.shingles import SHINGLE_SIZE, shingle_hashes

ALGORITHM_VERSION = 1  # raise it when other texts are copies: all articles are then grouped anew
MIN_SHARED_SHARE = 0.5  # of all tokens of both texts
MAX_BOILERPLATE_SHARED_SHARE = 0.4  # a beginning or end of which less is shared is what a site puts around its texts
MAX_NEAR_DAYS = 7
TOKENS_PER_EDIT = 60  # tokens: a text so long may have one edit, one twice as long two
MAX_EDITS = 3
REWRITE_TOKENS = 8  # tokens
MIN_RETITLED_TOKENS = 150  # tokens: under another title or day, a shorter text may be what a site says on many pages
MIN_TITLE_SHARED_SHARE = 0.5  # titles of which at least so much is shared are made in one mould
MAX_BOILERPLATE_TOKENS = 150  # tokens that a site puts around a text
MAX_CUT_DIVISOR = 3  # a copy that was cut lacks this part at most of what it has
RETITLED_BOILERPLATE_DIVISOR = 4  # under another title, of what both share this part at most
DATE_LINE_EDGE_LINES = 3  # from the first or last on
MAX_DATE_LINE_TOKENS = 24  # tokens
MAX_DATE_LINE_WORDS = 4  # tokens beside the date itself, as in 发布时间
MIN_SPELLING_LETTERS = 5  # letters
KEY_WINDOWS = 8
KEY_WINDOW_TOKENS = 16  # tokens on each side of a shingle
NUMBERS_DIFFER_REASON = "numbers or dates differ"
CONTEXT_TOKENS = 3  # tokens that are told before a difference


class DifferenceKind(StrEnum):
    """What a difference between two texts is."""

    NUMBERS = "numbers"
    NAMES = "names"
    WORDING = "wording"
    SPELLING = "spelling"
    DATE_LINE = "stamp"
    BOILERPLATE = "frame"
    TITLE = "title"


@dataclass(frozen=True)
class TextDifference:
    """A place where two texts differ: what the `left` has there (`left_tokens` tokens) and what the `right` (`right_tokens`), and
    what both have `context`.
    """

    kind: DifferenceKind
    context: str
    left: str
    right: str
    left_tokens: int
    right_tokens: int

    @property
    def edit_count(self) -> int:
        """How many of an editor's changes it counts for: what is replaced at length is written anew."""
        rewritten = (
            max(self.left_tokens, self.right_tokens) // REWRITE_TOKENS if self.left_tokens and self.right_tokens else 0
        )
        return 1 + rewritten if self.kind is DifferenceKind.WORDING else 0


@dataclass(frozen=True)
class DuplicateVerdict:
    """Whether two texts are copies, `reason` in a few words, and the differences between them, in order."""

    is_duplicate: bool
    reason: str
    differences: tuple[TextDifference, ...] = ()


@dataclass(frozen=True)
class ComparedArticle:
    """An article's title, body (a line a paragraph), and ISO date of publication, "" where that is not known."""

    title: str
    body: str
    published_on: str = ""

    @cached_property
    def tokenized_body(self) -> TokenizedText:
        """The body, laid out for comparison."""
        return tokenize_text(self.body)

    @cached_property
    def duplicate_keys(self) -> tuple[int, ...]:
        """See `duplicate_keys`."""
        return duplicate_keys(self.tokenized_body.tokens)

    def is_duplicate(self, other: "ComparedArticle") -> bool:
        """Is one of the two the other one, published again?"""
        return compare_articles(self, other).is_duplicate


def compare_articles(left: ComparedArticle, right: ComparedArticle, max_decisive: int = 1) -> DuplicateVerdict:
    """Judge two texts. Where they are no copies, no more than `max_decisive` differences are looked for that each say so."""
    if (right.tokenized_body.tokens, right.title) < (
        left.tokenized_body.tokens,
        left.title,
    ):  # whoever asks, the alignment is the same
        swapped_verdict = compare_articles(right, left, max_decisive)
        swapped_differences = tuple(
            replace(d, left=d.right, right=d.left, left_tokens=d.right_tokens, right_tokens=d.left_tokens)
            for d in swapped_verdict.differences
        )
        return DuplicateVerdict(swapped_verdict.is_duplicate, swapped_verdict.reason, swapped_differences)
    titles = tuple(iter_title_differences(tokenize_text(left.title), tokenize_text(right.title)))
    if max_decisive == 1 and any(difference.kind is DifferenceKind.NUMBERS for difference in titles):
        return DuplicateVerdict(False, NUMBERS_DIFFER_REASON, titles)
    pair = align(left.tokenized_body, right.tokenized_body)
    if pair is None or pair.shared_tokens < MIN_SHARED_SHARE * pair.total_tokens:
        return DuplicateVerdict(False, "too little is the same", titles)
    bodies = tuple(iter_until_decided(iter_body_differences(pair), max_decisive))
    rejection = difference_reason(
        titles, bodies, pair.shared_tokens, days_between(left.published_on, right.published_on)
    )
    return DuplicateVerdict(not rejection, rejection or "the same text", titles + bodies)


def iter_until_decided(differences: Iterable[TextDifference], max_decisive: int) -> Iterator[TextDifference]:
    """The differences up to the one with which so many say that the texts are no copies."""
    for difference in differences:
        yield difference
        max_decisive -= difference.kind in (DifferenceKind.NUMBERS, DifferenceKind.NAMES)
        if not max_decisive:
            return


def difference_reason(
    titles: Sequence[TextDifference], bodies: Sequence[TextDifference], shared: int, days: int | None
) -> str:
    """Why two texts are no copies that share so many tokens and were published so many `days` apart, None where that
    is not known; "" if they are.
    """
    is_near = days is not None and days <= MAX_NEAR_DAYS
    kinds = Counter(difference.kind for difference in bodies)
    replacements = Counter((d.left, d.right) for d in bodies if d.kind is DifferenceKind.WORDING and d.left and d.right)
    if kinds[DifferenceKind.NUMBERS] or any(difference.kind is DifferenceKind.NUMBERS for difference in titles):
        return NUMBERS_DIFFER_REASON
    if kinds[DifferenceKind.NAMES] or max(replacements.values(), default=0) > 1:
        return "names differ"
    if kinds[DifferenceKind.DATE_LINE] and not (is_near and shared >= MIN_RETITLED_TOKENS):
        return "the days on them differ"
    if titles and not may_be_retitled(titles, shared, is_near):
        return "the titles differ"
    if shared < MIN_RETITLED_TOKENS and not is_near and days is not None:
        return "short, and published at other times"
    if has_extra_parts(bodies, shared, is_near, bool(titles)):
        return "a part is only in one"
    edits = sum(difference.edit_count for difference in bodies)
    allowed = min(MAX_EDITS, shared // TOKENS_PER_EDIT) if is_near else 0
    return "words differ" if edits and edits + bool(titles) > allowed else ""


def has_extra_parts(bodies: Sequence[TextDifference], shared: int, is_near: bool, is_retitled: bool) -> bool:
    """Is there more around each text than a frame has? Around one there may be some more where they are of the same
    days and under one title: then the other was cut.
    """
    frames = [difference for difference in bodies if difference.kind is DifferenceKind.BOILERPLATE]
    sizes = sum(difference.left_tokens for difference in frames), sum(difference.right_tokens for difference in frames)
    max_boilerplate = (
        min(MAX_BOILERPLATE_TOKENS, shared // RETITLED_BOILERPLATE_DIVISOR) if is_retitled else MAX_BOILERPLATE_TOKENS
    )
    max_cut = shared // MAX_CUT_DIVISOR if is_near and not is_retitled else 0
    return min(sizes) > max_boilerplate or max(sizes) > max(max_boilerplate, max_cut)


def may_be_retitled(titles: Sequence[TextDifference], shared: int, is_near: bool) -> bool:
    """May a text have got another title? What is exchanged in the mould of a title tells two texts apart, unless they
    are of the same days; under quite another title, a short text may be what a site says on many pages.
    """
    if any(difference.kind is not DifferenceKind.TITLE for difference in titles):
        return is_near and shared >= TOKENS_PER_EDIT
    return shared >= MIN_RETITLED_TOKENS


def days_between(left: str, right: str) -> int | None:
    """How many days two dates of publication are apart; None where one of them is not known to the day."""
    try:
        return abs((date.fromisoformat(left) - date.fromisoformat(right)).days)
    except ValueError:
        return None


# -- what a difference is


def iter_body_differences(pair: Alignment) -> Iterator[TextDifference]:
    """The differences of two bodies, in order."""
    head, tail = detect_boilerplate(pair)
    for edit in pair.edits:
        in_frame = (head and edit.end <= pair.shared_start[0]) or (tail and edit.start >= pair.shared_end[0])
        kind = DifferenceKind.BOILERPLATE if in_frame else classify_edit(pair, edit)
        yield describe_difference(pair.left, pair.right, edit, kind)


def describe_difference(left: TokenizedText, right: TokenizedText, edit: Edit, kind: DifferenceKind) -> TextDifference:
    """An edit as it is told."""
    before = left.tokens[max(0, edit.start - CONTEXT_TOKENS) : edit.start]
    left_tokens, right_tokens = left.tokens[edit.start : edit.end], right.tokens[edit.other_start : edit.other_end]
    return TextDifference(
        kind, " ".join(before), " ".join(left_tokens), " ".join(right_tokens), len(left_tokens), len(right_tokens)
    )


def detect_boilerplate(pair: Alignment) -> tuple[bool, bool]:
    """Are the beginnings what two sites put before the text, and the ends what they put behind it?

    They have little in common then. Both begin the text with a line; one may end it early, within a line.
    """
    (head, head2), (tail, tail2) = pair.shared_start, pair.shared_end
    starts_line = pair.left.is_line_break(head) and pair.right.is_line_break(head2)
    ends_line = pair.left.is_line_break(tail) or pair.right.is_line_break(tail2)
    ends = (len(pair.left.tokens), len(pair.right.tokens))
    return (
        starts_line and are_mostly_different(pair, (0, 0), (head, head2)),
        ends_line and are_mostly_different(pair, (tail, tail2), ends),
    )


def are_mostly_different(pair: Alignment, start: tuple[int, int], end: tuple[int, int]) -> bool:
    """Has each text something between these places, and little of it from the other?"""
    length, length2 = end[0] - start[0], end[1] - start[1]
    changed = sum(edit.end - edit.start for edit in pair.edits if start[0] <= edit.start and edit.end <= end[0])
    return min(length, length2) > 0 and 2 * (length - changed) < MAX_BOILERPLATE_SHARED_SHARE * (length + length2)


def classify_edit(pair: Alignment, edit: Edit) -> DifferenceKind:
    """What a difference of two bodies is."""
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
    """Has one text alone a word there that is written as names are, and not elsewhere written small?"""
    left_tokens, right_tokens = (
        pair.left.original_tokens[edit.start : edit.end],
        pair.right.original_tokens[edit.other_start : edit.other_end],
    )
    capitals = [
        token
        for token in Counter(left_tokens) - Counter(right_tokens) | Counter(right_tokens) - Counter(left_tokens)
        if is_capital(token)
    ]
    if not capitals:
        return False
    lower_case_tokens = {*pair.left.original_tokens, *pair.right.original_tokens}
    return any(token.lower() not in lower_case_tokens for token in capitals)


def classify_addition(pair: Alignment, edit: Edit, added: Sequence[str]) -> DifferenceKind:
    """What a run of tokens is that only one text has."""
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
    """What it is when one text has the tokens `left_tokens` where the other has `right_tokens`."""
    numbers, numbers2 = list(filter(is_number, left_tokens)), list(filter(is_number, right_tokens))
    if not are_equal_numbers(numbers, numbers2):
        if numbers and numbers2:
            return DifferenceKind.NUMBERS
        if any(map(has_digit, numbers + numbers2)):
            return DifferenceKind.WORDING if is_edge else DifferenceKind.NUMBERS
    chinese = max(sum(map(is_cjk_token, left_tokens)), sum(map(is_cjk_token, right_tokens)))
    return DifferenceKind.NAMES if chinese > 1 else DifferenceKind.WORDING


def is_capital(token: str) -> bool:
    """Is the token written as names are?"""
    return token[0].isupper() and len(token) > 1


def is_cjk_token(token: str) -> bool:
    """Is the token a single character of Chinese or Japanese?"""
    return token[0] > "\u3040"


def are_spelling_variants(left_tokens: Sequence[str], right_tokens: Sequence[str]) -> bool:
    """Is it the same in other words' borders (to day, today), or words of letters that are one slip apart?"""
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
    return OSA.distance(left_text, right_text, score_cutoff=1) <= 1


def is_date_line(words: TokenizedText, start: int, end: int) -> bool:
    """Do these tokens stand in a line at the beginning or end that is hardly more than a date, or is there none?"""
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
    """The differences of two titles: what is exchanged in one mould, or all where they have none in common."""
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
    """Does the one begin or end as the other is, as a title does that a site puts its name to?"""
    return short in (long[: len(short)], long[len(long) - len(short) :])


# -- what copies have in common


def duplicate_keys(tokens: Sequence[str]) -> tuple[int, ...]:
    """Numbers of 64 bits (signed) by which the copies of a text are found among thousands that are nearly the same.

    They stand for all tokens, and for those around the WINDOWS shingles with the least hashes: wherever a copy is cut
    or framed, most of these are whole in it, while in a series hardly one is without a number that is another.
    """
    keys = {token_run_key(tokens)}
    hashes = shingle_hashes(tokens)
    for position in numpy.argsort(hashes, kind="stable")[:KEY_WINDOWS].tolist():
        keys.add(
            token_run_key(tokens[max(0, position - KEY_WINDOW_TOKENS) : position + SHINGLE_SIZE + KEY_WINDOW_TOKENS])
        )
    return tuple(sorted(keys))


def token_run_key(tokens: Sequence[str]) -> int:
    """64 bits (signed) of a run of tokens."""
    text = "\0".join(tokens).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8, person=b"window").digest(), "big", signed=True)
