"""Finds the title of an article as the page shows it: WD-A3 of Wang Du 2019, extended.

    1 declared  the texts of <title>, og:title, JSON-LD headline and twitter:title, without site names
    2 heading   the h1 most similar to one of them; else the h1 near the body that shares words with them or the URL;
                else another similar heading. The wording may come from the head (`edited_wording`)
    3 line      a line above the text that is <title> or most of it; <title> if it is more than the name of a channel,
                or og:title, if <title> is not visible; the line above the text that looks most like a title

A3 trusts <title>. Old Chinese sites have the name of the site in <title> of all pages, or nothing; step 3 handles
these.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from extractor.fields.json_ld import find_json_ld_article
from extractor.fields.title_matching import (
    KEY_WORD_RE,
    LINK_POINTS,
    MIN_TITLE_SIZE,
    TITLE_SEPARATOR_RE,
    TITLE_SIZE_RANGE,
    TextComparer,
    best_title_line,
    clean_title,
    declared_site_names,
    has_separator_at,
    host_of,
    is_body_sentence,
    is_byline_line,
    is_site_name,
    is_title_before_separator,
    lines_above_body,
    normalize_letters,
    strip_known_site_names,
    strip_site_names,
    title_separators,
    title_suffix,
)
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import Layout, Line, text_size
from extractor.page.parsed_page import Body, ParsedPage

MAX_TITLE_CHARS = 300  # longer titles are cut
MIN_SIMILARITY = 0.5  # headings at least this similar to <title> are the title [D]
HIGH_SIMILARITY = 0.8  # minimum for subheadings in the body and for headings similar to a short <title>
MIN_SHARED_WORD_RATIO = 0.3  # an h1 near the body that shares this ratio of words with <title> or the URL is the title
MAX_HEADINGS = 60  # headings of one page that are read
MAX_LINES_TITLE_TO_BODY = 15  # a body is expected to start within this distance below the title
MIN_DESCRIPTIVE_TITLE_SIZE = 6.0  # a shorter <title> may be the name of a channel; in Chinese characters
MIN_TITLE_SHARE = 0.5  # minimum share of <title> that a line with its title contains
MIN_VARIANT_WORD_SHARE = 2 / 3  # minimum share of words in common between a heading and another wording of it
STRAIGHT_QUOTES_TABLE = str.maketrans("‘’“”", "''\"\"")  # templates add typographic quotes, authors type straight ones
# Full-width ASCII, as typed with East Asian input methods.
HALF_WIDTH_TABLE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
EAST_ASIAN_RE = re.compile("[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")
WORD_RE = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class DeclaredTitles:
    """The titles that the head declares, without site names; missing titles are empty."""

    html_title: str = ""
    og_title: str = ""
    json_ld_headline: str = ""
    twitter_title: str = ""

    def distinct_titles(self) -> list[str]:
        """Return the declared titles without duplicates, <title> first."""
        return [
            text
            for text in dict.fromkeys((self.html_title, self.og_title, self.json_ld_headline, self.twitter_title))
            if text
        ]


@dataclass(frozen=True)
class Heading:
    """A heading: text, lines, minimum similarity to <title>, and whether it is above the text of the body."""

    text: str
    lines: Sequence[Line]
    min_similarity: float
    is_above_body: bool


def find_title(page: ParsedPage, body: Body, suffixes: Sequence[str] = ()) -> str:
    """Return the title of a page, or an empty string if it has none.

    Args:
        page: The page.
        body: The body of the article.
        suffixes: Title suffixes of many pages of the site (SiteTemplate).
    """
    names = declared_site_names(page)
    declared_titles = read_declared_titles(page, names, suffixes)
    declared_texts = declared_titles.distinct_titles()
    site_suffix = title_suffix(page.title, declared_texts[0]) if declared_texts else ""
    site_name_letters = {
        normalize_letters(name) for name in (*names, site_suffix, TITLE_SEPARATOR_RE.split(site_suffix)[-1])
    }
    heading = find_heading(page, body, declared_texts, site_name_letters)
    if not heading:
        return to_half_width(find_title_without_heading(page, body.span_index, declared_titles)[:MAX_TITLE_CHARS])
    return to_half_width(
        (edited_wording(heading, declared_titles) or restore_wording(heading, clean_title(page.title)))[
            :MAX_TITLE_CHARS
        ]
    )


def to_half_width(title: str) -> str:
    """Convert full-width ASCII in a title without East Asian characters to half width.

    >>> to_half_width("How Does Mapping Work？")
    'How Does Mapping Work?'
    """
    return title if EAST_ASIAN_RE.search(title) else title.translate(HALF_WIDTH_TABLE)


def read_declared_titles(page: ParsedPage, names: Sequence[str], suffixes: Sequence[str]) -> DeclaredTitles:
    """Read the declared titles without site names.

    <title> ends at the end of another declared title if it contains one, otherwise before the detected site name.
    """
    metas = page.metas
    headline = find_json_ld_article(page.json_ld, page.url, page.head_titles).headline
    other_titles = [clean_title(text) for text in (metas.get("og:title", ""), headline, metas.get("twitter:title", ""))]
    title = clean_title(page.title)
    host = host_of(page.url)
    og_title = strip_known_site_names(matching_declared_title(title, other_titles), names, suffixes, host)
    stripped_title = og_title or strip_site_names(title, *names, suffixes=suffixes, host=host)
    site_suffix = title[len(stripped_title) :] if title.startswith(stripped_title) else ""
    return DeclaredTitles(
        stripped_title,
        *(strip_known_site_names(other, [*names, site_suffix], suffixes, host) for other in other_titles),
    )


def edited_wording(heading: str, declared_titles: DeclaredTitles) -> str:
    """Return the wording of a heading that editors chose for the head, or an empty string if there is no other wording.

    Another wording exists in two cases. Either <title>, og:title and twitter:title agree on a variant of the heading
    and JSON-LD does not contain the heading. Or <title> is the heading, so og:title was written on purpose as a shorter
    or corrected headline. A text that contains the complete heading adds a channel or date; it is no other wording.
    """
    if declared_titles.og_title in ("", heading):  # most pages
        return ""
    heading_letters, title, og_title, twitter_title = map(
        normalize_spelling,
        (heading, declared_titles.html_title, declared_titles.og_title, declared_titles.twitter_title),
    )
    if heading_letters in og_title:
        return ""
    if title == heading_letters:
        return (
            declared_titles.og_title
            if shared_word_ratio(heading, declared_titles.og_title) >= MIN_VARIANT_WORD_SHARE
            else ""
        )
    if (
        title != og_title
        or og_title != twitter_title
        or heading_letters == normalize_spelling(declared_titles.json_ld_headline)
    ):
        return ""
    return (
        declared_titles.html_title if shared_word_ratio(heading, declared_titles.html_title) > HIGH_SIMILARITY else ""
    )


def normalize_spelling(text: str) -> str:
    """Return the letters of a text with "&" as "and"; texts with equal letters have the same wording."""
    return normalize_letters(text.replace("&", "and"))


def shared_word_ratio(first: str, second: str) -> float:
    """Return the share of words that two texts have in common, 0 to 1, for scripts that separate words by spaces."""
    first_words, second_words = (frozenset(WORD_RE.findall(text.lower())) for text in (first, second))
    return len(first_words & second_words) / max(len(first_words), len(second_words), 1)


def matching_declared_title(title: str, other_titles: Iterable[str]) -> str:
    """Return the other title that is <title> without a separator and the text after it, or without the text before it.

    Returns an empty string if there is no such title.
    """
    for other in other_titles:
        if text_size(other) >= MIN_TITLE_SIZE and len(other) < len(title):
            if title.startswith(other) and has_separator_at(title, len(other)):
                return other
            remainder = title.removesuffix(other).rstrip()
            if len(remainder) < MIN_TITLE_SHARE * len(title) and not remainder[-1:].isalnum():
                return other
    return ""


def find_heading(
    page: ParsedPage, body: Body, declared_texts: Sequence[str], site_name_letters: Collection[str]
) -> str:
    """Return the heading that is the title, or an empty string: step 2 of this module.

    `site_name_letters` are the letters of the names of the site.
    """
    layout = page.layout
    h1_headings = list(iter_headings(layout, body, ("h1",)))
    title_candidates = [
        candidate for candidate in h1_headings if normalize_letters(candidate.text) not in site_name_letters
    ]
    body_line_number = layout.spans[body.span_index].start_line_number
    headings_near_body = [
        heading
        for heading in title_candidates
        if heading.is_above_body and body_line_number - heading.lines[0].line_number <= MAX_LINES_TITLE_TO_BODY
    ]
    path = page.url.rpartition("//")[2].partition("/")[2]
    other_headings = list(iter_headings(layout, body, HEADING_TAGS[1:]))
    return (
        heading_before_site_name(h1_headings, other_headings, page.title)
        or most_similar_heading(title_candidates, declared_texts)
        or heading_before_separator(
            [candidate for candidate in title_candidates if candidate.is_above_body], other_headings, page.title
        )
        or heading_sharing_words(headings_near_body, [*declared_texts, path])
        or most_similar_heading(other_headings, declared_texts)
        or ("" if title_candidates else heading_before_separator(other_headings, (), page.title))
    )


def heading_before_site_name(h1_headings: Sequence[Heading], other_headings: Sequence[Heading], title: str) -> str:
    """Return the heading above the text with which <title> begins, if an h1 is the site name with which <title> ends.

    Such sites show their name as the h1 of every page. Returns an empty string for other pages.
    """
    parts = [normalize_letters(part) for part in TITLE_SEPARATOR_RE.split(clean_title(title))]
    if (
        len(parts) < 2
        or not parts[0]
        or not any(normalize_letters(heading.text) == parts[-1] for heading in h1_headings)
    ):
        return ""
    return next(
        (
            heading.text
            for heading in other_headings
            if heading.is_above_body and normalize_letters(heading.text) == parts[0]
        ),
        "",
    )


def heading_before_separator(headings: Sequence[Heading], other_headings: Sequence[Heading], title: str) -> str:
    """Return the heading with which <title> begins, before the name of the site or book, or an empty string.

    If the rest of <title> is one of `other_headings`, the first part is the name of the site, so the result is empty.
    """
    title = clean_title(title)
    for heading in headings:
        text = next((text for text in heading_variants(heading) if is_title_before_separator(text, title)), "")
        if text and all(not line.is_link for line in heading.lines):
            rest_letters = normalize_letters(title[len(text) :])
            return "" if any(normalize_letters(other.text) == rest_letters for other in other_headings) else text
    return ""


def iter_headings(layout: Layout, body: Body, tags: Collection[str]) -> Iterator[Heading]:
    """Yield the headings with these tags in document order, up to the end of the body.

    Headings below the first sentence belong to sections; they need HIGH_SIMILARITY to be the title.
    """
    body_span, spans = layout.spans[body.span_index], layout.spans
    end_index = bisect_left(spans, body_span.end_line, key=lambda span: span.start_line)
    text = (
        line_index
        for line_index in body.line_indices
        if layout.lines[line_index].tag not in HEADING_TAGS and is_body_sentence(layout.lines[line_index])
    )
    first_text_line = next(text, body_span.end_line)
    heading_spans = [
        span for span in spans[:end_index] if span.tag_info.tag in tags and span.end_line > span.start_line
    ]
    for span in heading_spans[:MAX_HEADINGS]:
        lines = layout.lines[span.start_line : span.end_line]
        is_above = span.start_line < first_text_line
        min_similarity = (
            MIN_SIMILARITY
            if span.start_line < (first_text_line if span.tag_info.tag == "h1" else body_span.start_line)
            else HIGH_SIMILARITY
        )
        yield Heading(clean_title(" ".join(line.text for line in lines)), lines, min_similarity, is_above)


def most_similar_heading(headings: Sequence[Heading], declared_texts: Sequence[str]) -> str:
    """Return the heading most similar to a declared title, the first of equals, or an empty string.

    If only a part of a heading is declared (without a rubric, badge or date), that part is returned.
    """
    letters = {normalize_letters(text) for text in declared_texts} - {""}
    for heading in headings:
        for text in heading_variants(heading):
            if normalize_letters(text) in letters:
                return text
    best_similarity, best_heading = 0.0, ""
    originals = [TextComparer(text) for text in declared_texts]
    for heading in headings:
        for text, original in zip(declared_texts, originals, strict=True):
            min_similarity = (
                heading.min_similarity
                if text_size(text) >= MIN_DESCRIPTIVE_TITLE_SIZE
                else max(HIGH_SIMILARITY, heading.min_similarity)
            )
            similarity = original.similarity(heading.text, min_similarity)
            if similarity >= min_similarity and similarity > best_similarity:
                best_similarity, best_heading = similarity, heading_text(heading)
    return best_heading


def heading_variants(heading: Heading) -> Iterator[str]:
    """Yield the text of a heading, then its parts: its lines, or its line without the first or last piece."""
    yield heading.text
    if len(heading.lines) > 1:
        yield from (clean_title(line.text) for line in heading.lines)
    elif len(parts := heading.lines[0].text_pieces) > 1:
        yield clean_title("".join(parts[1:]))
        yield clean_title("".join(parts[:-1]))


def heading_text(heading: Heading) -> str:
    """Return the text of a heading without its byline lines."""
    text_lines = [line.text for line in heading.lines if not is_byline_line(line)] if len(heading.lines) > 1 else []
    return clean_title(" ".join(text_lines)) if text_lines else heading.text


def restore_wording(heading: str, html_title: str) -> str:
    """Return a heading as spelled in <title> (`html_title`) if the template changed only its quotes or its case."""
    straight_heading = heading.translate(STRAIGHT_QUOTES_TABLE)
    position = html_title.lower().find(straight_heading.lower()) if len(html_title.lower()) == len(html_title) else -1
    title_wording = html_title[position : position + len(straight_heading)] if position >= 0 else heading
    is_changed = (
        title_wording == straight_heading or heading.islower() or (heading.isupper() and not title_wording.isupper())
    )
    return title_wording if is_changed else heading


def heading_sharing_words(headings: Sequence[Heading], declared_texts: Sequence[str]) -> str:
    """Return the heading that shares most words with a declared text, or an empty string.

    At least MIN_SHARED_WORD_RATIO of the words of the shorter text must be shared.
    """
    word_sets = [words for words in (frozenset(KEY_WORD_RE.findall(text.lower())) for text in declared_texts) if words]
    best_share, best_heading = 0.0, ""
    for heading in headings:
        words = frozenset(KEY_WORD_RE.findall(heading.text.lower()))
        share = (
            max((len(words & other) / min(len(words), len(other)) for other in word_sets), default=0.0)
            if words
            else 0.0
        )
        if share >= MIN_SHARED_WORD_RATIO and share > best_share and text_size(heading.text) >= MIN_TITLE_SIZE:
            best_share, best_heading = share, heading_text(heading)
    return best_heading


def find_title_without_heading(page: ParsedPage, body_span: int, declared_titles: DeclaredTitles) -> str:
    """Return the title of a page without a title heading: step 3 of this module."""
    layout, declared_texts = page.layout, declared_titles.distinct_titles()
    title = title_spelled_by_url(declared_texts[0], page) if declared_texts else ""
    matching_line = next((line for line in lines_above_body(layout, body_span) if covers_title(line, title)), None)
    if matching_line is not None:
        return clean_title(matching_line.text)
    is_in_url = is_title_in_url(title, page.url)
    if (
        text_size(title) >= MIN_DESCRIPTIVE_TITLE_SIZE
        or is_in_url
        or (title and title == declared_titles.json_ld_headline)
    ):
        is_only_title = len(declared_texts) == 1
        if is_title_shown(title, layout.lines, MIN_SIMILARITY if is_only_title else HIGH_SIMILARITY):
            return title
        if not is_only_title:
            return declared_titles.og_title or title  # og:title is written for readers, <title> for search engines
        if is_in_url:
            return title
    # A link is the last choice.
    return best_title_line(layout, body_span) or title or best_title_line(layout, body_span, LINK_POINTS - 1)


def title_spelled_by_url(title: str, page: ParsedPage) -> str:
    """Return the part of <title> before the site name if the last URL segment spells it; else the complete <title>."""
    separators = title_separators(title)
    path = unquote(page.url).partition("//")[2].partition("/")[2].partition("?")[0]
    last_segment = path.rstrip("/").rpartition("/")[2]
    if not separators or normalize_letters(title[: separators[0].start()]) not in (
        normalize_letters(last_segment),
        normalize_letters(last_segment.split(".")[0]),
    ):
        return title
    known_letters = {normalize_letters(name) for name in declared_site_names(page)}
    is_followed_by_site_name = is_site_name(title[separators[0].end() :], known_letters, host_of(page.url))
    return title[: separators[0].start()] if is_followed_by_site_name else title


def is_title_in_url(title: str, url: str) -> bool:
    """Return whether the URL contains the words of <title>, which then is not the name of a channel or site.

    The last segment must contain half of the words, or the complete path most of them and at least two.
    """
    words, path = frozenset(WORD_RE.findall(title.lower())), unquote(url).lower().partition("//")[2].partition("/")[2]
    in_path = words.intersection(WORD_RE.findall(path))
    in_last = words.intersection(WORD_RE.findall(path.partition("?")[0].rstrip("/").rpartition("/")[2]))
    return len(in_last) >= MIN_TITLE_SHARE * len(words) > 0 or (
        len(in_path) > 1 and len(in_path) > MIN_TITLE_SHARE * len(words)
    )


def covers_title(line: Line, title: str) -> bool:
    """Return whether a line is <title> or at least half of it, and is not a link."""
    if line.is_link or line.size < max(MIN_TITLE_SIZE, MIN_TITLE_SHARE * text_size(title)):
        return False
    return clean_title(line.text) in title


def is_title_shown(title: str, lines: Sequence[Line], min_similarity: float) -> bool:
    """Return whether a line outside links contains <title> or is at least that similar to it."""
    words, original = title.lower(), TextComparer(title)
    return any(
        line.size <= 2 * TITLE_SIZE_RANGE[1]
        and not line.is_link
        and (words in line.text.lower() or original.similarity(line.text, min_similarity) >= min_similarity)
        for line in lines
    )
