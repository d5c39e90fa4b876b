"""Body method `blocks`: weigh every line, choose the element with the largest gain, filter its lines.

    1 weigh     a sentence outside links adds its length; link lists, notices and labels subtract
    2 demote    lines in elements named as navigation, comments, related news ... add nothing
    3 choose    the element with the largest sum of weights, adjusted by class names and the title's position
    4 filter    inside it, drop labels, link runs, notices, lines before the text and lines after its end

Every step is a pure function of the page's lines (extractor/page/layout_builder.py).
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice, pairwise, takewhile
from typing import ClassVar

from domain.article import text_hash64
from domain.pagination import is_same_site
from extractor.body_methods.aside_lines import aside_line_mask, find_screen_copies, is_link_list, resolve_hints
from extractor.body_methods.base import Explanation
from extractor.body_methods.explanation import explain_line_scoring
from extractor.fields.dates.date_parsing import find_date_in_text
from extractor.fields.dates.publication_date import PublicationDate, find_publication_date
from extractor.fields.title import find_title
from extractor.fields.title_matching import find_title_line, is_near_title, last_line_number_near_title
from extractor.page.boilerplate_phrases import (
    ends_with_photo_credit,
    is_article_end,
    is_byline,
    is_copyright,
    is_editor_signature,
    is_machine_value,
    is_republication_note,
    is_template_label,
)
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import CODE_TAG, MIN_STORY_PARAGRAPHS, Layout, Line, Span, join_lines
from extractor.page.linked_text import MIN_SECTIONS, SENTENCE_END_RE, heading_key
from extractor.page.parsed_page import Body, ParsedPage
from extractor.page.tag_info import Hint, attribute_value
from extractor.settings import ExtractSettings
from text.scripts import HAN

MAX_LINE_PENALTY = 15.0  # maximum penalty of one line, in Chinese characters
MAX_LINK_LINE_PENALTY = 20.0  # the same for a line of links, before LINK_PENALTY_FACTOR
LINK_PENALTY_FACTOR = 0.6
MIN_SENTENCE_SIZE = 8.0  # minimum size of a sentence, a line with punctuation
MIN_LONG_LINE_SIZE = 20.0  # a line of this size counts in part even without punctuation
REPEATED_LINE_WEIGHT = 0.01  # above 0: the element with all copies ranks before the element with one
SKIPPED_LINK_PENALTY = 0.18  # penalty per skipped link size: LINK_PENALTY_FACTOR * 0.3, as in an aside
# Indexed by Hint: body, article, none, aside, hidden, footer or comments.
HINT_GAIN_FACTORS = (1.6, 1.15, 1.0, 0.6, 0.6, 0.3)
HINT_BONUSES = (60.0, 3.0, 0.0, 0.0, 0.0, 0.0)
MAX_ASIDE_SHARE = 0.5  # an element with a larger share of the page's gain is not an aside, whatever its name
MAX_TAIL_LINES = 30  # maximum number of lines without punctuation that are cut after the last sentence
MIN_TABLE_ROWS = 3  # rows of a table that is more than a menu
FOOTNOTE_MARK_RE = re.compile(r"\[\d{1,3}\]|［\d{1,3}］|[①-⑳†‡]")
FOOTNOTE_DEPTH = 2  # maximum number of elements between the text of a footnote and the element that has its id
CAPTION_DEPTH = 3  # maximum number of elements between the text of a caption and its caption element
DATA_TAGS = ("table", "blockquote", "pre")  # in a <figure>, their lines are no captions
MIN_FIGURE_SENTENCES, MAX_CAPTION_SIZE = 3, 100.0  # lines of text in a <figure> that is more than a picture
NAVIGATION_STARTS = frozenset(("next", "prev", "previous", *(f"{a}一{b}" for a in "上下" for b in "页章节篇级")))
MAX_NAVIGATION_LINES = 4  # last lines of a page that may lead to other pages of a manual
NAVIGATION_WORD_RE = re.compile(
    r"\b(?:next|prev|previous|up|home|contents|index)\b|[上下]一[页章节篇级]|目录|首页", re.IGNORECASE
)
MIN_HEADLINE_LINK_SIZE = 8.0  # minimum size of a link that can be a headline
FULL_LINK_SHARE = 0.95
HAN_RE = re.compile(f"[{HAN}]")
MAX_COPYRIGHT_SIZE = 300.0  # a longer line with copyright words is a text about copyright
MAX_LABEL_SIZE = 45.0  # maximum size of a template label
MIN_BODY_GAIN_SHARE = 0.04  # minimum share of the page's gain for a body that depends on aside names
MAX_GAIN_ABOVE_TITLE = 0.3  # maximum share of an article's gain above its title
NEAR_TITLE_BONUS = 80.0  # bonus for an element that starts near the title, in Chinese characters
MIN_GAIN_BEFORE_END = 0.5  # minimum share of an article's gain before an end marker, or the teasers below it
SHALLOW_HREF_RE = re.compile(r"(?:mailto|tel):.*|(?:https?:)?//[^/?#]*(?:/[^/?#]*/?)?(?:[?#].*)?", re.I)
MAX_CONTACT_LINES, MIN_CONTACT_LINK_SHARE = 5, 0.2
MIN_ENTRIES, MAX_ENTRY_DATE_SIZE = 2, 25.0  # comments or teasers, and the size of the line with the date
MIN_ENTRY_GAIN_SHARE = 0.9  # minimum share of the entries in the gain from the first one on
QUOTE_TAGS = ("blockquote", "figure", "tr", "pre")  # dated parts of an article
MIN_STORY_GAIN = 80.0  # of an article above teasers, which may have more text
MAX_TEASER_SIZE, MAX_TEASER_LINES = 100.0, 5  # of a teaser with its headline
MIN_CONTINUATION_SIZE = 60.0  # a line of this size after the editor's name continues the article
MIN_GAIN_BELOW_TITLE = 0.3  # minimum share of the page's gain below a title
ABOVE_TITLE_FACTOR = 0.3  # factor for the weight of lines above the title


@dataclass(frozen=True)
class LineScoring:
    """Body method `blocks`: chooses the body by line weights."""

    settings: ExtractSettings
    needs_complete_layout: ClassVar[bool] = False
    uses_declared_body: ClassVar[bool] = True

    def choose_body(self, page: ParsedPage) -> Body | None:
        layout = page.layout
        hints = resolve_hints(layout)
        weights = weigh_lines(layout.lines, page.site_template.template_line_hashes)
        title_line = find_title_line(page)
        trusted_title = confirmed_title_line(title_line, weights)
        choice = choose_element(layout, hints, weights, trusted_title)
        line_indices = select_body_lines(page, choice, trusted_title) if choice is not None else []
        line_indices = drop_repeated_lines(line_indices, layout.lines, page.site_template.template_line_hashes)
        if choice is None or not line_indices:
            return None
        return Body(
            choice.span_index,
            tuple(line_indices),
            join_lines(layout.lines[index] for index in line_indices),
            title_line,
            choice.is_confident,
        )

    def explain(self, page: ParsedPage) -> Explanation:
        layout, hints = page.layout, resolve_hints(page.layout)
        weights = weigh_lines(layout.lines, page.site_template.template_line_hashes)
        title = confirmed_title_line(find_title_line(page), weights)
        choice = choose_element(layout, hints, weights, title)
        final_weights = choice.weights if choice is not None else weights
        return explain_line_scoring(
            page, self.choose_body(page), final_weights, score_spans(layout, hints, final_weights, title)
        )

    def find_title(self, page: ParsedPage, body: Body) -> str:
        return find_title(page, body, page.site_template.title_suffixes)

    def find_published(self, page: ParsedPage, body: Body, latest_date: str) -> PublicationDate:
        return find_publication_date(page, body.span_index, latest_date)


@dataclass(frozen=True)
class ElementChoice:
    """The chosen element, the final weight of every line, and whether each line is in an aside."""

    span: Span
    span_index: int
    weights: Sequence[float]
    is_aside: Sequence[bool]
    is_confident: bool


def choose_element(layout: Layout, hints: Sequence[Hint], weights: Sequence[float], title: int) -> ElementChoice | None:
    """Choose the best element. Tries three levels of trust in the names of asides.

    1.0: all names are trusted. Accepts only an element named as the body near the title, or a caption above link lists.
    0.5: a name is trusted if its element has at most half of the gain. Accepts an element near the title or with enough
    gain. 0.0: names are ignored.
    """
    spans = layout.spans
    cumulative_gain = [0.0, *accumulate(weight if weight > 0 else 0.0 for weight in weights)]
    min_gain = MIN_BODY_GAIN_SHARE * cumulative_gain[-1]
    for max_aside_share in (1.0, MAX_ASIDE_SHARE, 0.0):
        is_aside = aside_line_mask(spans, hints, cumulative_gain, title, max_aside_share)
        final_weights = apply_context(weights, is_aside, title)
        span_index = find_best_span(layout, hints, final_weights, title)
        if span_index < 0:
            continue
        span, is_near = spans[span_index], is_near_title(spans[span_index], title, layout.lines)
        if max_aside_share == 1.0:
            is_good = is_near and (
                hints[span_index] is Hint.BODY or is_caption_above_lists(layout, hints, cumulative_gain, span, title)
            )
        else:
            is_good = (
                max_aside_share == 0.0
                or is_near
                or positive_sum(final_weights[span.start_line : span.end_line]) > min_gain
            )
        if is_good:
            return ElementChoice(span, span_index, final_weights, is_aside, max_aside_share > 0.0)
    return None


def is_caption_above_lists(
    layout: Layout, hints: Sequence[Hint], cumulative_gain: Sequence[float], span: Span, title: int
) -> bool:
    """Return True if a sentence follows the title and every larger aside is a list of other pages below it.

    The article is then a picture with its caption, however much text those lists contain.
    """
    lines = layout.lines
    caption_line = next(
        (
            line_index
            for line_index in range(max(span.start_line, title + 1), span.end_line)
            if is_body_sentence(lines[line_index])
        ),
        -1,
    )
    if title < 0 or caption_line < 0:
        return False
    large_asides = [
        candidate
        for candidate, hint in zip(layout.spans, hints, strict=True)
        if hint is Hint.ASIDE
        and cumulative_gain[candidate.end_line] - cumulative_gain[candidate.start_line]
        > MAX_ASIDE_SHARE * cumulative_gain[-1]
    ]
    return bool(large_asides) and all(
        candidate.start_line > caption_line and is_link_list(lines[candidate.start_line : candidate.end_line])
        for candidate in large_asides
    )


def is_body_sentence(line: Line) -> bool:
    """Return True for a sentence that is neither link text nor a byline."""
    return is_sentence(line) and not line.is_link and not is_byline(line.text)


def weigh_lines(lines: Sequence[Line], template_line_hashes: Set[int] = frozenset()) -> list[float]:
    """Return the weights of all lines. A long line that repeats an earlier line has almost no weight.

    Lines that many pages of the site show (`template_line_hashes`, by text_hash64) are part of its template and
    subtract.
    """
    earlier_texts: set[str] = set()
    weights = []
    for line in lines:
        if template_line_hashes and text_hash64(line.text) in template_line_hashes:
            weights.append(-min(line.size, MAX_LINE_PENALTY))
        elif line.size > MIN_LONG_LINE_SIZE and line.text in earlier_texts:
            weights.append(REPEATED_LINE_WEIGHT)
        else:
            weights.append(weigh_line(line))
        earlier_texts.add(line.text)
    return weights


def confirmed_title_line(title: int, weights: Sequence[float]) -> int:
    """Return `title`, or -1 if less than MIN_GAIN_BELOW_TITLE of the page's gain is below it."""
    return title if positive_sum(weights[title + 1 :]) >= MIN_GAIN_BELOW_TITLE * positive_sum(weights) else -1


def positive_sum(weights: Sequence[float]) -> float:
    """Return the sum of the positive weights."""
    return sum(weight for weight in weights if weight > 0)


def weigh_line(line: Line) -> float:
    """Return the weight of a line on its own, in Chinese characters: positive for text, negative for boilerplate."""
    text_size = line.size - line.link_size
    if line.is_link:
        return -min(line.size, MAX_LINK_LINE_PENALTY) * LINK_PENALTY_FACTOR
    if is_notice_or_label(line.text, line.size):
        return -min(line.size, MAX_LINE_PENALTY)
    if line.size >= MIN_SENTENCE_SIZE and line.has_punctuation:
        return text_size
    if line.size >= MIN_LONG_LINE_SIZE:
        return text_size * 0.5
    return text_size * 0.1


def apply_context(weights: Sequence[float], is_aside: Sequence[bool], title: int) -> list[float]:
    """Return the final weights: lines in asides get a small penalty, lines above the title a reduced weight."""
    final_weights = []
    for index, (weight, in_aside) in enumerate(zip(weights, is_aside, strict=True)):
        if in_aside:
            weight = -min(abs(weight) * 0.3, MAX_LINE_PENALTY)
        elif index <= title and weight > 0:
            weight *= ABOVE_TITLE_FACTOR
        final_weights.append(weight)
    return final_weights


def find_best_span(layout: Layout, hints: Sequence[Hint], weights: Sequence[float], title: int) -> int:
    """Return the index of the element with the highest score, the innermost of equals; -1 if no score is positive."""
    scores = score_spans(layout, hints, weights, title)
    best = max(scores, default=0.0)
    return len(scores) - 1 - scores[::-1].index(best) if best > 0 else -1


def score_spans(layout: Layout, hints: Sequence[Hint], weights: Sequence[float], title: int) -> list[float]:
    """Return the score of each element: the sum of its line weights, adjusted by its hint and the title's position.

    Elements without a positive gain have the score 0. Lines above the title do not count in an element that contains
    the title and text below it, because the body starts below the title: a long list of links there would hide the
    text. In the innermost of these elements, skipped links above the title do not count either.
    """
    cumulative_weight = [0.0, *accumulate(weights)]
    last_near_line_number = last_line_number_near_title(title, layout.lines)
    title_container = find_title_container(layout, title)
    scores = []
    for span_index, (span, hint) in enumerate(zip(layout.spans, hints, strict=True)):
        first_line, skipped_link_size = span.start_line, span.skipped_link_size
        if first_line <= title < span.end_line and span_index <= title_container:
            first_line = title + 1
        if span_index == title_container:
            skipped_link_size -= skipped_size_above(layout, span_index, title)
        gain = (
            cumulative_weight[span.end_line] - cumulative_weight[first_line] - SKIPPED_LINK_PENALTY * skipped_link_size
        )
        score = gain * HINT_GAIN_FACTORS[hint] + HINT_BONUSES[hint] if gain > 0 else 0.0
        if score > 0 and span.start_line_number <= last_near_line_number and title < span.end_line:
            score += NEAR_TITLE_BONUS
        scores.append(score)
    return scores


def find_title_container(layout: Layout, title: int) -> int:
    """Return the index of the innermost element that contains the title and a sentence below it; -1 for none."""
    if title < 0:
        return -1
    below_title = range(title + 1, len(layout.lines))
    sentence = next((index for index in below_title if is_body_sentence(layout.lines[index])), len(layout.lines))
    enclosing_spans = layout.iter_enclosing(layout.lines[title].span_index)
    return next((index for index in enclosing_spans if layout.spans[index].end_line > sentence), -1)


def skipped_size_above(layout: Layout, span_index: int, title: int) -> float:
    """Return the size of the skipped links inside an element and above the title."""
    return sum(
        layout.spans[element.span_index].skipped_link_size
        for element in layout.skipped_elements
        if element.span_index > span_index and element.line_index <= title
    )


def select_body_lines(page: ParsedPage, choice: ElementChoice, title: int) -> list[int]:
    """Return the indices of the lines of the chosen element that belong to the article."""
    layout, lines = page.layout, page.layout.lines
    start = first_body_line(choice, title)
    copies = find_screen_copies(layout)
    line_indices = [
        index for index in range(start, choice.span.end_line) if not choice.is_aside[index] and index not in copies
    ]
    line_indices = cut_after_article_end(line_indices, lines, choice.weights)
    line_indices = cut_trailing_entries(line_indices, page, choice)
    line_indices = cut_leading_bylines(line_indices, lines)
    line_indices = cut_trailing_contacts(drop_page_navigation(lines, line_indices), page)
    line_indices = cut_trailing_lines(line_indices, layout)
    return [index for index in line_indices if is_body_line(index, layout)]


def first_body_line(choice: ElementChoice, title: int) -> int:
    """Return the line below the title.

    If the title is outside the element, or much text is above it, returns the first line of the element.
    """
    span = choice.span
    if not span.start_line <= title < span.end_line:
        return span.start_line
    gain_above = positive_sum(choice.weights[span.start_line : title])
    total_gain = positive_sum(choice.weights[span.start_line : span.end_line])
    return title + 1 if gain_above < MAX_GAIN_ABOVE_TITLE * total_gain else span.start_line


def cut_after_article_end(line_indices: list[int], lines: Sequence[Line], weights: Sequence[float]) -> list[int]:
    """Cut at the first line that starts comments or related news, if most of the gain is before it."""
    total = positive_sum([weights[index] for index in line_indices])
    gain_before = 0.0
    for position, index in enumerate(line_indices):
        text = lines[index].text
        if is_article_end(text) and gain_before > MIN_GAIN_BEFORE_END * total:
            return line_indices[:position]
        if (
            gain_before > 0
            and is_editor_signature(text)
            and longest_text_line(lines, line_indices[position + 1 :]) < MIN_CONTINUATION_SIZE
        ):
            return line_indices[:position]
        gain_before += max(0.0, weights[index])
    return line_indices


def cut_trailing_entries(line_indices: list[int], page: ParsedPage, choice: ElementChoice) -> list[int]:
    """Cut at the first of several equally named elements that end the lines: comments, or teasers of other articles.

    Each contains a date or begins with a headline. Before them must be most of the text, or a story above headlines.
    """
    lines, spans = page.layout.lines, page.layout.spans
    gains = [max(0.0, choice.weights[index]) for index in line_indices]
    gain_before = [0.0, *accumulate(gains)]
    paragraphs_before = [0, *accumulate(gain >= MIN_SENTENCE_SIZE for gain in gains)]
    entries_by_name: dict[tuple[int, str, str], list[Span]] = {}
    for span in spans[choice.span_index + 1 :]:
        if span.start_line >= choice.span.end_line:
            break
        if span.end_line - span.start_line > 1 and span.tag_info.tag not in QUOTE_TAGS:
            name = (span.parent_index, span.tag_info.tag, span.tag_info.identifiers)
            entries_by_name.setdefault(name, []).append(span)
    for entries in entries_by_name.values():
        if len(entries) < MIN_ENTRIES:
            continue
        positions = [
            (bisect_left(line_indices, span.start_line), bisect_left(line_indices, span.end_line)) for span in entries
        ]
        start = positions[0][0]
        has_most_text = gain_before[start] > MIN_GAIN_BEFORE_END * gain_before[-1]
        is_story = gain_before[start] >= MIN_STORY_GAIN and paragraphs_before[start] >= MIN_STORY_PARAGRAPHS
        entry_gain = sum(gain_before[end] - gain_before[first] for first, end in positions)
        if (
            (has_most_text or is_story)
            and entry_gain >= MIN_ENTRY_GAIN_SHARE * (gain_before[-1] - gain_before[start])
            and all(is_entry(lines[span.start_line : span.end_line], page.url, has_most_text) for span in entries)
        ):
            return line_indices[:start]
    return line_indices


def is_entry(lines: Sequence[Line], url: str, may_be_comment: bool) -> bool:
    """Return whether an element is a teaser, or has a short line with a date, no heading, at its start or end."""
    sentences = [line for line in lines if not line.is_link and SENTENCE_END_RE.search(line.text[-3:])]
    is_teaser = len(lines) <= MAX_TEASER_LINES and all(line.size <= MAX_TEASER_SIZE for line in lines)
    return (is_teaser and len(sentences) <= 1 and any(is_headline_of_site(line, url) for line in lines)) or (
        may_be_comment
        and any(
            line.strong_size < line.size <= MAX_ENTRY_DATE_SIZE and find_date_in_text(line.text)
            for line in (*lines[:3], *lines[-2:])
            if line.tag not in HEADING_TAGS
        )
    )


def is_headline_of_site(line: Line, url: str) -> bool:
    """Return whether a line is a link of headline size to a page of the same site as `url`."""
    hrefs = (attribute_value("href", attribute_text) for _, _, attribute_text in line.links)
    return (
        line.size >= MIN_HEADLINE_LINK_SIZE
        and line.link_share >= FULL_LINK_SHARE
        and all("//" not in href or is_same_site(href, url) for href in hrefs)
    )


def drop_repeated_lines(line_indices: list[int], lines: Sequence[Line], template_line_hashes: Set[int]) -> list[int]:
    """Remove the lines that many pages of the site show."""
    return (
        [index for index in line_indices if text_hash64(lines[index].text) not in template_line_hashes]
        if template_line_hashes
        else line_indices
    )


def longest_text_line(lines: Sequence[Line], line_indices: Sequence[int]) -> float:
    """Return the size of the longest line, without its links."""
    return max((lines[index].size - lines[index].link_size for index in line_indices), default=0.0)


def drop_page_navigation(lines: Sequence[Line], line_indices: Sequence[int]) -> list[int]:
    """Remove the links to the next and previous pages of a manual, which are its last lines."""
    first_tail = max(0, len(line_indices) - MAX_NAVIGATION_LINES)
    for position in range(first_tail, len(line_indices)):
        is_tail_of_links = all(lines[index].link_size for index in line_indices[position:])
        if is_tail_of_links and is_page_navigation(lines[line_indices[position]].text):
            return list(line_indices[:position])
    return list(line_indices)


def is_page_navigation(text: str) -> bool:
    """Return True for `Prev Up Next` and similar lines."""
    words = [word.lower() for word in NAVIGATION_WORD_RE.findall(text)]
    return len(words) > 1 and not NAVIGATION_STARTS.isdisjoint(words) and not text.endswith((".", "。"))


def cut_trailing_contacts(line_indices: list[int], page: ParsedPage) -> list[int]:
    """Cut the last short lines that lead only to mail addresses, accounts and home pages: subscriptions, contacts."""
    end = len(line_indices)
    for position in range(end - 1, max(0, end - MAX_CONTACT_LINES), -1):
        line = page.layout.lines[line_indices[position]]
        if line.links and is_contact_line(line, page.url):
            end = position
        elif is_sentence(line) or line.tag == CODE_TAG or line.cells:
            break
    return line_indices[:end]


def is_contact_line(line: Line, url: str) -> bool:
    """Return whether the links of a line with little other text all lead to mail addresses, or to shallow URLs.

    The sources of a text have longer URLs. A sentence must begin or end with its links, one of them for mail or calls.
    """
    hrefs = [attribute_value("href", attribute_text) for _, _, attribute_text in line.links]
    ends = line.text_pieces[: line.links[0][0]], line.text_pieces[line.links[-1][1] :]
    is_inner = all(re.search(r"\w", "".join(pieces)) for pieces in ends)
    may_be_contact = not is_inner and any(href.lower().startswith(("mailto:", "tel:")) for href in hrefs)
    return (
        (may_be_contact or not SENTENCE_END_RE.search(line.text[-3:]))
        and line.size - line.link_size <= MAX_LABEL_SIZE
        and line.link_share >= MIN_CONTACT_LINK_SHARE
        and all(SHALLOW_HREF_RE.fullmatch(href) and not is_same_site(href, url) for href in hrefs)
    )


def cut_trailing_lines(line_indices: list[int], layout: Layout) -> list[int]:
    """Cut short lines without punctuation after the last sentence: buttons, counters, tags, links to other pages.

    Rows of a table, a section like those before it, and what the text refers to (footnotes) are no such lines.
    """
    lines = layout.lines
    end = len(line_indices)
    while end and not ends_text(lines[line_indices[end - 1]]):
        end -= 1
    if not end or len(line_indices) - end > MAX_TAIL_LINES:
        return line_indices
    text_lines, tail = [lines[index] for index in line_indices[:end]], line_indices[end:]
    section_counts = Counter(
        heading_key(layout, line) for line, next_line in pairwise(text_lines) if is_sentence(next_line)
    )
    targets = {
        attribute_value("href", attribute_text)[1:]
        for line in text_lines
        for _, _, attribute_text in line.links
        if 'href="#' in attribute_text
    }
    row_counts, is_section = Counter(layout.spans[lines[index].span_index].parent_index for index in tail), False
    for position, index in enumerate(tail, end + 1):
        line = lines[index]
        if line.tag in HEADING_TAGS:
            is_label = is_template_label(line.text) or is_article_end(line.text)
            is_section = not is_label and section_counts[heading_key(layout, line)] >= MIN_SECTIONS
            continue
        is_row = len(line.cells) > 1 and row_counts[layout.spans[line.span_index].parent_index] >= MIN_TABLE_ROWS
        spans = islice(layout.iter_enclosing(line.span_index), FOOTNOTE_DEPTH)
        ids = [attribute_value("id", layout.spans[span].tag_info.attribute_text) for span in spans]
        mark = FOOTNOTE_MARK_RE.match(line.text)
        is_footnote = not targets.isdisjoint(ids) or (mark and any(mark[0] in text.text for text in text_lines))
        if not line.is_link and (is_section or is_row or is_footnote):
            end = position
    return line_indices[:end]


def ends_text(line: Line) -> bool:
    """Return True for a sentence or code; False for a row of links, however long it is."""
    return (is_sentence(line) and not (line.cells and line.is_link)) or line.tag == CODE_TAG


def is_sentence(line: Line) -> bool:
    """Return True for a long line, or a shorter line with punctuation."""
    return line.size >= MIN_LONG_LINE_SIZE or (line.size >= MIN_SENTENCE_SIZE and line.has_punctuation)


def cut_leading_bylines(line_indices: list[int], lines: Sequence[Line]) -> list[int]:
    """Cut the short lines with date, source and author between title and text."""
    cut_position = 0
    for position, index in enumerate(line_indices[:12]):
        line = lines[index]
        if line.tag == CODE_TAG:
            break
        if is_byline(line.text) and line.size < 40:
            cut_position = position + 1
        elif line.size >= MIN_SENTENCE_SIZE and line.has_punctuation and line.tag not in HEADING_TAGS:
            break
    return line_indices[cut_position:]


def is_body_line(index: int, layout: Layout) -> bool:
    """Return False for notices, labels, English captions and runs of link lines."""
    line = layout.lines[index]
    if line.is_link and (is_article_link(line) or not is_lone_link(index, layout.lines)):
        return False
    return not (is_notice_or_label(line.text, line.size) or is_caption(line, layout))


def is_caption(line: Line, layout: Layout) -> bool:
    """Return True for a caption under a picture, table or quotation, except Chinese ones.

    A Chinese caption can be the whole article (WD, 1.4).
    """
    if not line.text.isascii() and HAN_RE.search(line.text):
        return False
    enclosing = (layout.spans[index] for index in islice(layout.iter_enclosing(line.span_index), CAPTION_DEPTH))
    spans = takewhile(lambda span: span.tag_info.is_caption or span.tag_info.tag not in DATA_TAGS, enclosing)
    return any(span.tag_info.is_caption and not has_article_text(span, layout) for span in spans) or (
        ends_with_photo_credit(line.text)
    )


def has_article_text(span: Span, layout: Layout) -> bool:
    """Return True for a <figure> around more text than any caption has: the article, or a part of it."""
    if span.tag_info.tag != "figure":
        return False
    sentences = [line.size for line in layout.lines[span.start_line : span.end_line] if is_sentence(line)]
    return len(sentences) >= MIN_FIGURE_SENTENCES and sum(sentences) > MAX_CAPTION_SIZE


@lru_cache(maxsize=2_000)  # called twice for each line of a page
def is_notice_or_label(text: str, size: float) -> bool:
    """Return True for a copyright notice, a short template label or a machine-readable value.

    `size` is the size of `text` in Chinese characters.
    """
    if size < MAX_COPYRIGHT_SIZE and (is_copyright(text) or is_republication_note(text)):
        return True
    return (size < MAX_LABEL_SIZE and is_template_label(text)) or is_machine_value(text)


def is_article_link(line: Line) -> bool:
    """Return True for a paragraph in Latin letters that consists of a link to another article."""
    if line.tag in HEADING_TAGS or line.size < MIN_HEADLINE_LINK_SIZE or line.link_share < FULL_LINK_SHARE:
        return False
    return not line.text.endswith((".", ":")) and not HAN_RE.search(line.text)


def is_lone_link(index: int, lines: Sequence[Line]) -> bool:
    """Return True for one line of link text between lines of text, such as a source or a name."""
    return sum(line.is_link for line in lines[max(0, index - 1) : index + 2]) == 1
