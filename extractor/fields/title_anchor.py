"""Where on the page the title stands: the body starts below it."""

import math
from collections.abc import Sequence

from extractor.fields.site_name import clean_title, is_title_before_separator, normalize_letters, strip_site_names
from extractor.fields.title_similarity import MAX_COMPARED_CHARS as COMPARED
from extractor.fields.title_similarity import TextComparer
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import MAX_TEXT_LINK_SHARE, Line, Span
from extractor.page.parsed_page import ParsedPage

MAX_TITLE_SIZE = 90.0  # of a line that may be a title, in Chinese characters
MIN_TITLE_SIZE = 2.0
TITLE_PREFIX_TAGS = ("h1", "h2")  # headings that may be <title> without the site's name, however short
LINKABLE_TITLE_TAGS = ("h1", "h2", "h3")
MAX_LINES_TITLE_TO_BODY = 15  # lines below the title in which a body is expected to start
# Bonus and least likeness to <title> of a line that is the title.
TITLE_BONUS_AND_MIN_SIMILARITY = {"h1": (0.5, 0.5)} | dict.fromkeys(HEADING_TAGS[1:], (0.2, 0.75))
PLAIN_LINE_BONUS_AND_MIN_SIMILARITY = (0.0, 0.9)
PREFIX_SIMILARITY = 0.95  # likeness of a heading with which <title> begins, site and channel names behind it
CONTAINED_SIMILARITY = 0.8  # ... of one that stands within it, and is most of it
MIN_CONTAINED_SHARE = 0.5


def find_title_line(page: ParsedPage) -> int:
    """Index of the line that is the title, -1 for none: the first best, h1 before other headings before any line."""
    titles = {page.title, page.metas.get("og:title", "")} - {""}
    targets = [(normalize_letters(title), TextComparer(strip_site_names(title))) for title in sorted(titles)]
    shortest, longest = plain_title_length_range([len(comparer.text) for _, comparer in targets])
    declared_title = clean_title(page.title)
    best_score, best_index = 0.0, -1
    for index, line in enumerate(page.layout.lines):
        if (
            line.tag in TITLE_PREFIX_TAGS
            and line.link_share <= MAX_TEXT_LINK_SHARE
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
    """Between which lengths a line that is no heading may be like enough to a title of one of these lengths."""
    min_similarity = PLAIN_LINE_BONUS_AND_MIN_SIMILARITY[1]
    longest = max(target_lengths, default=0) / min_similarity
    return min_similarity * min(target_lengths, default=0), longest if longest < COMPARED else math.inf


def has_title_shape(line: Line) -> bool:
    """Of a title's size; a line of links only where it is a heading."""
    if not MIN_TITLE_SIZE <= line.size <= MAX_TITLE_SIZE:
        return False
    return line.link_share <= MAX_TEXT_LINK_SHARE or line.tag in LINKABLE_TITLE_TAGS


def title_similarity(line: Line, title_letters: str, comparer: TextComparer, min_similarity: float) -> float:
    """How much a line is like a page's <title> (its letters, and the text without site name), 0 to 1."""
    if line.tag in HEADING_TAGS:
        text = normalize_letters(line.text)
        if text and text in title_letters:
            return contained_similarity(text, title_letters, line.size)
    return comparer.similarity(line.text, min_similarity)


def contained_similarity(text: str, title_letters: str, size: float) -> float:
    """Likeness of a heading that stands in <title> as it is: at its beginning the title, elsewhere perhaps the site."""
    share = len(text) / len(title_letters)
    if title_letters.startswith(text) and (size >= 4 or share > MIN_CONTAINED_SHARE):
        return PREFIX_SIMILARITY
    return CONTAINED_SIMILARITY if share > MIN_CONTAINED_SHARE else share


def is_near_title(span: Span, title_line: int, lines: Sequence[Line]) -> bool:
    """The element holds the title, or starts shortly below it."""
    return title_line < span.end_line and span.start_line_number <= last_line_number_near_title(title_line, lines)


def last_line_number_near_title(title_line: int, lines: Sequence[Line]) -> int:
    """The last row in which an element may start that is near the title; -1 where there is no title."""
    return lines[title_line].line_number + MAX_LINES_TITLE_TO_BODY if title_line >= 0 else -1
