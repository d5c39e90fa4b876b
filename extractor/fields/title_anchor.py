"""Finds the line with the title of a page; the body starts below it. Compares two titles (WD-A3)."""

import math
from collections.abc import Sequence

from rapidfuzz.distance import LCSseq

from extractor.fields.site_name import clean_title, is_title_before_separator, normalize_letters, strip_site_names
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import Line, Span
from extractor.page.parsed_page import ParsedPage

MAX_COMPARED_CHARS = 200  # beginning of each text that is compared
MAX_TITLE_SIZE = 90.0  # of a line that may be a title, in Chinese characters
MIN_TITLE_SIZE = 2.0
TITLE_PREFIX_TAGS = ("h1", "h2")  # headings of any length that may be <title> without the site name
LINKABLE_TITLE_TAGS = ("h1", "h2", "h3")
MAX_LINES_TITLE_TO_BODY = 15  # a body is expected to start within this distance below the title
# Bonus and minimum similarity to <title> for a line that is the title, by tag.
TITLE_BONUS_AND_MIN_SIMILARITY = {"h1": (0.5, 0.5)} | dict.fromkeys(HEADING_TAGS[1:], (0.2, 0.75))
PLAIN_LINE_BONUS_AND_MIN_SIMILARITY = (0.0, 0.9)
PREFIX_SIMILARITY = 0.95  # similarity of a heading at the beginning of <title>
CONTAINED_SIMILARITY = 0.8  # similarity of a heading elsewhere in <title> that is most of it
MIN_CONTAINED_SHARE = 0.5


class TextComparer:
    """Compares one text with many others."""

    def __init__(self, text: str) -> None:
        self.text = normalize_text(text)

    def similarity(self, other: str, min_similarity: float = 0.0) -> float:
        """Return the length of the longest common subsequence divided by the longer length, 0 to 1.

        Returns 0 if one text is empty or at least three times as long as the other. Also returns 0 if the lengths show
        that `min_similarity` cannot be reached.
        """
        if len(other) < min_similarity * len(self.text):  # normalization only shortens the text
            return 0.0
        other = normalize_text(other)
        shorter, longer = sorted((len(self.text), len(other)))
        if shorter == 0 or longer >= 3 * shorter or shorter < min_similarity * longer:
            return 0.0
        return LCSseq.similarity(self.text, other) / longer


def normalize_text(text: str) -> str:
    """Return the part of a text that is compared: lower case, white space collapsed, at most MAX_COMPARED_CHARS."""
    return " ".join(text[: MAX_COMPARED_CHARS * 2].split())[:MAX_COMPARED_CHARS].lower()


def find_title_line(page: ParsedPage) -> int:
    """Return the index of the title line, -1 if not found: the first of the best lines, h1 before other headings."""
    titles = {page.title, page.metas.get("og:title", "")} - {""}
    targets = [(normalize_letters(title), TextComparer(strip_site_names(title))) for title in sorted(titles)]
    shortest, longest = plain_title_length_range([len(comparer.text) for _, comparer in targets])
    declared_title = clean_title(page.title)
    best_score, best_index = 0.0, -1
    for index, line in enumerate(page.layout.lines):
        if (
            line.tag in TITLE_PREFIX_TAGS
            and not line.is_link
            and is_title_before_separator(clean_title(line.text), declared_title)
        ):
            similarity, bonus = PREFIX_SIMILARITY, TITLE_BONUS_AND_MIN_SIMILARITY[line.tag][0]
            if similarity + bonus > best_score:
                best_score, best_index = similarity + bonus, index
            continue
        if (
            not shortest <= len(line.text) <= longest and line.tag not in TITLE_BONUS_AND_MIN_SIMILARITY
        ) or not has_title_shape(line):
            continue
        bonus, min_similarity = TITLE_BONUS_AND_MIN_SIMILARITY.get(line.tag, PLAIN_LINE_BONUS_AND_MIN_SIMILARITY)
        similarity = max(
            (title_similarity(line, title_letters, comparer, min_similarity) for title_letters, comparer in targets),
            default=0.0,
        )
        if similarity >= min_similarity and similarity + bonus > best_score:
            best_score, best_index = similarity + bonus, index
    return best_index


def plain_title_length_range(target_lengths: Sequence[int]) -> tuple[float, float]:
    """Return the minimum and maximum length of a line outside headings that can match one of these titles."""
    min_similarity = PLAIN_LINE_BONUS_AND_MIN_SIMILARITY[1]
    longest = max(target_lengths, default=0) / min_similarity
    return min_similarity * min(target_lengths, default=0), longest if longest < MAX_COMPARED_CHARS else math.inf


def has_title_shape(line: Line) -> bool:
    """Return whether a line has the size of a title and is not a link outside headings."""
    if not MIN_TITLE_SIZE <= line.size <= MAX_TITLE_SIZE:
        return False
    return not line.is_link or line.tag in LINKABLE_TITLE_TAGS


def title_similarity(line: Line, title_letters: str, comparer: TextComparer, min_similarity: float) -> float:
    """Return the similarity of a line and a <title>, 0 to 1.

    `title_letters` are the letters of <title>; `comparer` contains its text without the site name.
    """
    if line.tag in HEADING_TAGS:
        text = normalize_letters(line.text)
        if text and text in title_letters:
            return contained_similarity(text, title_letters, line.size)
    return comparer.similarity(line.text, min_similarity)


def contained_similarity(text: str, title_letters: str, size: float) -> float:
    """Return the similarity of a heading that is part of <title>.

    At the beginning of <title> it is the title; elsewhere it may be the name of the site. `text` are the letters of the
    heading, `size` is its size in Chinese characters.
    """
    share = len(text) / len(title_letters)
    if title_letters.startswith(text) and (size >= 4 or share > MIN_CONTAINED_SHARE):
        return PREFIX_SIMILARITY
    return CONTAINED_SIMILARITY if share > MIN_CONTAINED_SHARE else share


def is_near_title(span: Span, title_line: int, lines: Sequence[Line]) -> bool:
    """Return whether an element contains the title or starts shortly below it."""
    return title_line < span.end_line and span.start_line_number <= last_line_number_near_title(title_line, lines)


def last_line_number_near_title(title_line: int, lines: Sequence[Line]) -> int:
    """Return the last line number at which an element near the title may start; -1 if there is no title."""
    return lines[title_line].line_number + MAX_LINES_TITLE_TO_BODY if title_line >= 0 else -1
