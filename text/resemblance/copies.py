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

Texts are seen as tokens (text/resemblance/shingles.py). Pure, and the same for (a, b) as for (b, a).
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

from text.numbers_in_text import has_digit, has_year, is_date_sign, is_number, same_numbers
from text.resemblance.alignment import Edit, Pair, Words, edits_of, laid_beside, words_of
from text.resemblance.shingles import SHINGLE, shingle_hashes

VERSION = 1  # raise it when other texts are copies: all articles are then grouped anew
MIN_SHARED = 0.5  # of all tokens of both texts
FRAME_SHARED = 0.4  # a beginning or end of which less is shared is what a site puts around its texts
NEAR_DAYS = 7
EDIT_EVERY = 60  # tokens: a text so long may have one edit, one twice as long two
MAX_EDITS = 3
LONG_WORDING = 8  # tokens
MIN_RETITLED = 150  # tokens: under another title or day, a shorter text may be what a site says on many pages
SAME_MOULD = 0.5  # titles of which at least so much is shared are made in one mould
MAX_FRAME = 150  # tokens that a site puts around a text
MAX_CUT = 3  # a copy that was cut lacks this part at most of what it has
RETITLED_FRAME = 4  # under another title, of what both share this part at most
STAMP_LINES = 3  # from the first or last on
MAX_STAMP = 24  # tokens
STAMP_WORDS = 4  # tokens beside the date itself, as in 发布时间
MIN_SPELLING = 5  # letters
WINDOWS = 8
WINDOW = 16  # tokens on each side of a shingle
DIFFERENT_NUMBERS = "numbers or dates differ"
CONTEXT = 3  # tokens that are told before a difference


class CopyKind(StrEnum):
    """What a difference between two texts is."""

    NUMBERS = "numbers"
    NAMES = "names"
    WORDING = "wording"
    SPELLING = "spelling"
    STAMP = "stamp"
    FRAME = "frame"
    TITLE = "title"


@dataclass(frozen=True)
class TextDifference:
    """A place where two texts differ: what the `one` has there (`size` tokens) and what the `other` (`size2`), and
    what both have `before`.
    """

    kind: CopyKind
    before: str
    one: str
    other: str
    size: int
    size2: int

    @property
    def edits(self) -> int:
        """How many of an editor's changes it counts for: what is replaced at length is written anew."""
        rewritten = max(self.size, self.size2) // LONG_WORDING if self.size and self.size2 else 0
        return 1 + rewritten if self.kind is CopyKind.WORDING else 0


@dataclass(frozen=True)
class CopyVerdict:
    """Whether two texts are copies, `why` in a few words, and the differences between them, in order."""

    is_copy: bool
    why: str
    differences: tuple[TextDifference, ...] = ()


@dataclass(frozen=True)
class Text:
    """An article's title, body (a line a paragraph), and ISO date of publication, "" where that is not known."""

    title: str
    body: str
    published: str = ""

    @cached_property
    def words(self) -> Words:
        """The body, laid out for comparison."""
        return words_of(self.body)

    @cached_property
    def keys(self) -> tuple[int, ...]:
        """See `keys_of`."""
        return keys_of(self.words.tokens)

    def is_copy_of(self, other: "Text") -> bool:
        """Is one of the two the other one, published again?"""
        return compare(self, other).is_copy


def compare(one: Text, other: Text, told: int = 1) -> CopyVerdict:
    """Judge two texts. Where they are no copies, no more than `told` differences are looked for that each say so."""
    if (other.words.tokens, other.title) < (one.words.tokens, one.title):  # whoever asks, the alignment is the same
        mirrored = compare(other, one, told)
        turned = tuple(replace(d, one=d.other, other=d.one, size=d.size2, size2=d.size) for d in mirrored.differences)
        return CopyVerdict(mirrored.is_copy, mirrored.why, turned)
    titles = tuple(title_differences(words_of(one.title), words_of(other.title)))
    if told == 1 and any(difference.kind is CopyKind.NUMBERS for difference in titles):
        return CopyVerdict(False, DIFFERENT_NUMBERS, titles)
    pair = laid_beside(one.words, other.words)
    if pair is None or pair.shared < MIN_SHARED * pair.all:
        return CopyVerdict(False, "too little is the same", titles)
    bodies = tuple(until_decided(body_differences(pair), told))
    against = objection(titles, bodies, pair.shared, days_between(one.published, other.published))
    return CopyVerdict(not against, against or "the same text", titles + bodies)


def until_decided(differences: Iterable[TextDifference], told: int) -> Iterator[TextDifference]:
    """The differences up to the one with which so many say that the texts are no copies."""
    for difference in differences:
        yield difference
        told -= difference.kind in (CopyKind.NUMBERS, CopyKind.NAMES)
        if not told:
            return


def objection(titles: Sequence[TextDifference], bodies: Sequence[TextDifference], shared: int, days: int | None) -> str:
    """Why two texts are no copies that share so many tokens and were published so many `days` apart, None where that
    is not known; "" if they are.
    """
    is_near = days is not None and days <= NEAR_DAYS
    kinds = Counter(difference.kind for difference in bodies)
    exchanged = Counter((d.one, d.other) for d in bodies if d.kind is CopyKind.WORDING and d.one and d.other)
    if kinds[CopyKind.NUMBERS] or any(difference.kind is CopyKind.NUMBERS for difference in titles):
        return DIFFERENT_NUMBERS
    if kinds[CopyKind.NAMES] or max(exchanged.values(), default=0) > 1:
        return "names differ"
    if kinds[CopyKind.STAMP] and not (is_near and shared >= MIN_RETITLED):
        return "the days on them differ"
    if titles and not may_be_retitled(titles, shared, is_near):
        return "the titles differ"
    if shared < MIN_RETITLED and not is_near and days is not None:
        return "short, and published at other times"
    if has_other_parts(bodies, shared, is_near, bool(titles)):
        return "a part is only in one"
    edits = sum(difference.edits for difference in bodies)
    allowed = min(MAX_EDITS, shared // EDIT_EVERY) if is_near else 0
    return "words differ" if edits and edits + bool(titles) > allowed else ""


def has_other_parts(bodies: Sequence[TextDifference], shared: int, is_near: bool, is_retitled: bool) -> bool:
    """Is there more around each text than a frame has? Around one there may be some more where they are of the same
    days and under one title: then the other was cut.
    """
    frames = [difference for difference in bodies if difference.kind is CopyKind.FRAME]
    sizes = sum(difference.size for difference in frames), sum(difference.size2 for difference in frames)
    most = min(MAX_FRAME, shared // RETITLED_FRAME) if is_retitled else MAX_FRAME
    cut = shared // MAX_CUT if is_near and not is_retitled else 0
    return min(sizes) > most or max(sizes) > max(most, cut)


def may_be_retitled(titles: Sequence[TextDifference], shared: int, is_near: bool) -> bool:
    """May a text have got another title? What is exchanged in the mould of a title tells two texts apart, unless they
    are of the same days; under quite another title, a short text may be what a site says on many pages.
    """
    if any(difference.kind is not CopyKind.TITLE for difference in titles):
        return is_near and shared >= EDIT_EVERY
    return shared >= MIN_RETITLED


def days_between(one: str, other: str) -> int | None:
    """How many days two dates of publication are apart; None where one of them is not known to the day."""
    try:
        return abs((date.fromisoformat(one) - date.fromisoformat(other)).days)
    except ValueError:
        return None


# -- what a difference is


def body_differences(pair: Pair) -> Iterator[TextDifference]:
    """The differences of two bodies, in order."""
    head, tail = frames(pair)
    for edit in pair.edits:
        in_frame = (head and edit.end <= pair.head[0]) or (tail and edit.start >= pair.tail[0])
        kind = CopyKind.FRAME if in_frame else kind_of(pair, edit)
        yield difference(pair.one, pair.other, edit, kind)


def difference(one: Words, other: Words, edit: Edit, kind: CopyKind) -> TextDifference:
    """An edit as it is told."""
    before = one.tokens[max(0, edit.start - CONTEXT) : edit.start]
    x, y = one.tokens[edit.start : edit.end], other.tokens[edit.start2 : edit.end2]
    return TextDifference(kind, " ".join(before), " ".join(x), " ".join(y), len(x), len(y))


def frames(pair: Pair) -> tuple[bool, bool]:
    """Are the beginnings what two sites put before the text, and the ends what they put behind it?

    They have little in common then. Both begin the text with a line; one may end it early, within a line.
    """
    (head, head2), (tail, tail2) = pair.head, pair.tail
    starts_line = pair.one.is_break(head) and pair.other.is_break(head2)
    ends_line = pair.one.is_break(tail) or pair.other.is_break(tail2)
    ends = (len(pair.one.tokens), len(pair.other.tokens))
    return (
        starts_line and have_little_in_common(pair, (0, 0), (head, head2)),
        ends_line and have_little_in_common(pair, (tail, tail2), ends),
    )


def have_little_in_common(pair: Pair, start: tuple[int, int], end: tuple[int, int]) -> bool:
    """Has each text something between these places, and little of it from the other?"""
    length, length2 = end[0] - start[0], end[1] - start[1]
    changed = sum(edit.end - edit.start for edit in pair.edits if start[0] <= edit.start and edit.end <= end[0])
    return min(length, length2) > 0 and 2 * (length - changed) < FRAME_SHARED * (length + length2)


def kind_of(pair: Pair, edit: Edit) -> CopyKind:
    """What a difference of two bodies is."""
    x, y = pair.one.tokens[edit.start : edit.end], pair.other.tokens[edit.start2 : edit.end2]
    if are_spelt_alike(x, y) or (all(map(is_number, (*x, *y))) and same_numbers(x, y)):
        return CopyKind.SPELLING
    if is_stamp(pair.one, edit.start, edit.end) and is_stamp(pair.other, edit.start2, edit.end2):
        return CopyKind.STAMP if any(map(is_number, x)) and any(map(is_number, y)) else CopyKind.FRAME
    if not (x and y):
        return kind_of_addition(pair, edit, x or y)
    is_edge = edit.end <= pair.head[0] or edit.start >= pair.tail[0]
    kind = kind_of_exchange(x, y, is_edge)
    return CopyKind.NAMES if kind is CopyKind.WORDING and names_in(pair, edit) else kind


def names_in(pair: Pair, edit: Edit) -> bool:
    """Has one text alone a word there that is written as names are, and not elsewhere written small?"""
    x, y = pair.one.written[edit.start : edit.end], pair.other.written[edit.start2 : edit.end2]
    capitals = [token for token in Counter(x) - Counter(y) | Counter(y) - Counter(x) if is_capital(token)]
    if not capitals:
        return False
    small = {*pair.one.written, *pair.other.written}
    return any(token.lower() not in small for token in capitals)


def kind_of_addition(pair: Pair, edit: Edit, added: Sequence[str]) -> CopyKind:
    """What a run of tokens is that only one text has."""
    is_head, is_tail = edit.end <= pair.head[0], edit.start >= pair.tail[0]
    are_lines = pair.one.are_lines(edit.start, edit.end) and pair.other.are_lines(edit.start2, edit.end2)
    if are_lines and (is_head or is_tail):
        return CopyKind.FRAME
    if edit.start == len(pair.one.tokens) or edit.start2 == len(pair.other.tokens):
        return CopyKind.FRAME  # one text ends early
    has_numbers = any(map(has_digit, added))
    if has_numbers and not (are_lines or is_head or is_tail):
        return CopyKind.NUMBERS
    return CopyKind.WORDING


def kind_of_exchange(x: Sequence[str], y: Sequence[str], is_edge: bool = False) -> CopyKind:
    """What it is when one text has the tokens `x` where the other has `y`."""
    numbers, numbers2 = list(filter(is_number, x)), list(filter(is_number, y))
    if not same_numbers(numbers, numbers2):
        if numbers and numbers2:
            return CopyKind.NUMBERS
        if any(map(has_digit, numbers + numbers2)):
            return CopyKind.WORDING if is_edge else CopyKind.NUMBERS
    chinese = max(sum(map(is_chinese, x)), sum(map(is_chinese, y)))
    return CopyKind.NAMES if chinese > 1 else CopyKind.WORDING


def is_capital(token: str) -> bool:
    """Is the token written as names are?"""
    return token[0].isupper() and len(token) > 1


def is_chinese(token: str) -> bool:
    """Is the token a single character of Chinese or Japanese?"""
    return token[0] > "\u3040"


def are_spelt_alike(x: Sequence[str], y: Sequence[str]) -> bool:
    """Is it the same in other words' borders (to day, today), or words of letters that are one slip apart?"""
    one, other = "".join(x), "".join(y)
    if one == other:
        return True
    if min(len(one), len(other)) < MIN_SPELLING or has_digit(one) or has_digit(other) or any(map(is_chinese, (*x, *y))):
        return False
    return OSA.distance(one, other, score_cutoff=1) <= 1


def is_stamp(words: Words, start: int, end: int) -> bool:
    """Do these tokens stand in a line at the beginning or end that is hardly more than a date, or is there none?"""
    first, last = words.line_at(start), words.line_at(max(start, end - 1))
    lines = len(words.breaks) - 1
    line = words.tokens[words.breaks[first] : words.breaks[first + 1]]
    if first != last or STAMP_LINES <= first < lines - STAMP_LINES or len(line) > MAX_STAMP:
        return False
    dates = [token for token in line if is_date_sign(token)]
    return has_year(line) and len(dates) >= 3 and len(line) - len(dates) <= STAMP_WORDS


def title_differences(one: Words, other: Words) -> Iterator[TextDifference]:
    """The differences of two titles: what is exchanged in one mould, or all where they have none in common."""
    if not one.tokens or not other.tokens or is_part(*sorted((one.tokens, other.tokens), key=len)):
        return
    edits = edits_of(one.tokens, other.tokens)
    shared = len(one.tokens) - sum(edit.end - edit.start for edit in edits)
    if 2 * shared < SAME_MOULD * (len(one.tokens) + len(other.tokens)):
        yield difference(one, other, Edit(0, len(one.tokens), 0, len(other.tokens)), CopyKind.TITLE)
        return
    for edit in edits:
        x, y = one.tokens[edit.start : edit.end], other.tokens[edit.start2 : edit.end2]
        if x and y and not are_spelt_alike(x, y):
            yield difference(one, other, edit, kind_of_exchange(x, y))


def is_part(short: Sequence[str], long: Sequence[str]) -> bool:
    """Does the one begin or end as the other is, as a title does that a site puts its name to?"""
    return short in (long[: len(short)], long[len(long) - len(short) :])


# -- what copies have in common


def keys_of(tokens: Sequence[str]) -> tuple[int, ...]:
    """Numbers of 64 bits (signed) by which the copies of a text are found among thousands that are nearly the same.

    They stand for all tokens, and for those around the WINDOWS shingles with the least hashes: wherever a copy is cut
    or framed, most of these are whole in it, while in a series hardly one is without a number that is another.
    """
    found = {key_of(tokens)}
    hashes = shingle_hashes(tokens)
    for place in numpy.argsort(hashes, kind="stable")[:WINDOWS].tolist():
        found.add(key_of(tokens[max(0, place - WINDOW) : place + SHINGLE + WINDOW]))
    return tuple(sorted(found))


def key_of(tokens: Sequence[str]) -> int:
    """64 bits (signed) of a run of tokens."""
    text = "\0".join(tokens).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8, person=b"window").digest(), "big", signed=True)
