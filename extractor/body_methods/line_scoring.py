"""Our body method, `blocks`: weigh every line, take the element that gains most, then read its lines critically.

    1 weigh     a sentence outside links gains its length; link lists, notices and labels lose
    2 demote    lines in elements named as navigation, comments, related news ... gain nothing
    3 choose    the element with the largest sum of weights, helped by names and by the title's place
    4 filter    inside it, drop labels, link runs, notices, the lines before the text and after its end

Every step is a pure function of the page's lines (extractor/page/layout_builder.py).
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice
from typing import ClassVar

from docstore.model import text_hash64
from extractor.body_methods.asides import aside_line_mask, is_link_list, resolve_hints
from extractor.body_methods.base import Body, Explanation
from extractor.body_methods.explanation import explain_line_scoring
from extractor.fields.dates.publication_date import PublicationDate, find_publication_date
from extractor.fields.title import find_title
from extractor.fields.title_anchor import find_title_line, is_near_title, last_line_number_near_title
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
from extractor.page.layout import MAX_TEXT_LINK_SHARE, Layout, Line, Span, join_lines
from extractor.page.parsed_page import ParsedPage
from extractor.page.tag_info import Hint
from extractor.settings import ExtractSettings
from text.scripts import HAN

MAX_LINE_PENALTY = 15.0  # most that one bad line takes away, in Chinese characters
MAX_LINK_LINE_PENALTY = 20.0  # the same for a line of links, of which LINK_FACTOR counts
LINK_PENALTY_FACTOR = 0.6
MIN_SENTENCE_SIZE = 8.0  # shortest line with punctuation that counts as a sentence
MIN_LONG_LINE_SIZE = 20.0  # a line this long counts in part even without punctuation
SKIPPED_LINK_PENALTY = 0.18  # of the links that were left out: what LINK_FACTOR leaves in an aside
# By Hint: body, article, none, aside, hidden, after.
HINT_GAIN_FACTORS = (1.6, 1.15, 1.0, 0.6, 0.6, 0.3)
HINT_BONUSES = (60.0, 3.0, 0.0, 0.0, 0.0, 0.0)
MAX_ASIDE_SHARE = 0.5  # an element with more of the page's gain than this is no aside, whatever its name
MAX_TAIL_LINES = 30  # lines without punctuation that may be cut behind the last sentence
CAPTION_DEPTH = 3  # elements between a caption's text and the element that is named as one
MIN_POINTER_SIZE = 8.0  # shortest link that may be a headline
FULL_LINK_SHARE = 0.95
HAN_RE = re.compile(f"[{HAN}]")
MAX_COPYRIGHT_SIZE = 300.0  # a longer line that speaks of copyright is about copyright
MAX_LABEL_SIZE = 45.0  # longest line that may be a label of the template
MIN_BODY_GAIN_SHARE = 0.04  # of the page's gain that a body must have for the names around it to be believed
MAX_GAIN_ABOVE_TITLE = 0.3  # of an article's gain that may stand above its title
NEAR_TITLE_BONUS = 80.0  # what it is worth to start shortly below the title, in Chinese characters
MIN_GAIN_BEFORE_END = 0.5  # of an article's gain that stands before the heading of what follows it
MIN_CONTINUATION_SIZE = 60.0  # behind the editor's name, a line this long says that the article goes on
MIN_GAIN_BELOW_TITLE = 0.3  # of the page's gain that stands below a title
ABOVE_TITLE_FACTOR = 0.3  # what lines above the title are worth


@dataclass(frozen=True)
class LineScoring:
    """Body method `blocks`."""

    settings: ExtractSettings
    needs_complete_layout: ClassVar[bool] = False
    uses_declared_body: ClassVar[bool] = True

    def choose_body(self, page: ParsedPage) -> Body | None:
        """The body, or None where no element gains anything."""
        layout = page.layout
        hints = resolve_hints(layout.spans)
        weights = weigh_lines(layout.lines, page.site_template.template_line_hashes)
        title_line = find_title_line(page)
        trusted_title = confirmed_title_line(title_line, weights)
        choice = choose_element(layout, hints, weights, trusted_title)
        line_indices = select_body_lines(layout, choice, trusted_title) if choice is not None else []
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
        """The lines by their final weights, the elements by the scores among which the choice fell."""
        layout, hints = page.layout, resolve_hints(page.layout.spans)
        weights = weigh_lines(layout.lines, page.site_template.template_line_hashes)
        title = confirmed_title_line(find_title_line(page), weights)
        choice = choose_element(layout, hints, weights, title)
        final_weights = choice.weights if choice is not None else weights
        return explain_line_scoring(
            page, self.choose_body(page), final_weights, score_spans(layout, hints, final_weights, title)
        )

    def find_title(self, page: ParsedPage, body: Body) -> str:
        """See extractor/fields/title.py."""
        return find_title(page, body, page.site_template.title_suffixes)

    def find_published(self, page: ParsedPage, body: Body, latest_date: str) -> PublicationDate:
        """See extractor/fields/dates/publication_date.py."""
        return find_publication_date(page, body.span_index, latest_date)


@dataclass(frozen=True)
class ElementChoice:
    """A chosen element (`span_index` among the spans), with every line's final weight and whether it stands in an aside."""

    span: Span
    span_index: int
    weights: Sequence[float]
    is_aside: Sequence[bool]
    is_confident: bool


def choose_element(layout: Layout, hints: Sequence[Hint], weights: Sequence[float], title: int) -> ElementChoice | None:
    """The best element. Names of asides are believed less and less until a good one is left.

    Believed in full, they must leave an element that is named as the body and near the title, or a caption below the
    title where all else is a list of other pages; believed where they hold no more than ASIDE_SHARE, one near the
    title, or one that holds enough. Last, no name is believed.
    """
    spans = layout.spans
    min_gain = MIN_BODY_GAIN_SHARE * sum(max(0.0, weight) for weight in weights)
    for max_aside_share in (1.0, MAX_ASIDE_SHARE, 0.0):
        is_aside = aside_line_mask(spans, hints, weights, title, max_aside_share)
        final_weights = apply_context(weights, is_aside, title)
        span_index = find_best_span(layout, hints, final_weights, title)
        if span_index < 0:
            continue
        span, is_near = spans[span_index], is_near_title(spans[span_index], title, layout.lines)
        if max_aside_share == 1.0:
            is_good = is_near and (
                hints[span_index] is Hint.BODY or is_caption_above_lists(layout, hints, weights, span, title)
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
    layout: Layout, hints: Sequence[Hint], weights: Sequence[float], span: Span, title: int
) -> bool:
    """Below the title stands a sentence, and all that is called an aside and has more text lists other pages: however
    much text such a list holds, it is no part of an article that is a picture and its caption.
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
    cumulative_gain = [0.0, *accumulate(max(0.0, weight) for weight in weights)]
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
    """A sentence that is no link and no line of date and author."""
    return is_sentence(line) and line.link_share <= MAX_TEXT_LINK_SHARE and not is_byline(line.text)


def weigh_lines(lines: Sequence[Line], template_line_hashes: Set[int] = frozenset()) -> list[float]:
    """Weights of all lines; a long line that was there before is a copy and weighs nothing.

    A line that many pages of the site show (`template_line_hashes`, by line_hash) is part of its template.
    """
    earlier_texts: set[str] = set()
    weights = []
    for line in lines:
        if template_line_hashes and text_hash64(line.text) in template_line_hashes:
            weights.append(-min(line.size, MAX_LINE_PENALTY))
        elif line.size > MIN_LONG_LINE_SIZE and line.text in earlier_texts:
            weights.append(0.0)
        else:
            weights.append(weigh_line(line))
        earlier_texts.add(line.text)
    return weights


def confirmed_title_line(title: int, weights: Sequence[float]) -> int:
    """The title's place, or -1 where too little of the page's gain stands below it for it to be the title."""
    positive_weights = [max(0.0, weight) for weight in weights]
    return title if sum(positive_weights[title + 1 :]) >= MIN_GAIN_BELOW_TITLE * sum(positive_weights) else -1


def positive_sum(weights: Sequence[float]) -> float:
    """Sum of the positive weights."""
    return sum(weight for weight in weights if weight > 0)


def weigh_line(line: Line) -> float:
    """What a line says for its element being the body, on its own."""
    text_size = line.size - line.link_size
    if line.link_share > MAX_TEXT_LINK_SHARE:
        return -min(line.size, MAX_LINK_LINE_PENALTY) * LINK_PENALTY_FACTOR
    if is_notice_or_label(line.text, line.size):
        return -min(line.size, MAX_LINE_PENALTY)
    if line.size >= MIN_SENTENCE_SIZE and line.has_punctuation:
        return text_size
    if line.size >= MIN_LONG_LINE_SIZE:
        return text_size * 0.5
    return text_size * 0.1


def apply_context(weights: Sequence[float], is_aside: Sequence[bool], title: int) -> list[float]:
    """Final weights: asides lose a little, what stands above the title counts for less."""
    final_weights = []
    for index, (weight, in_aside) in enumerate(zip(weights, is_aside, strict=True)):
        if in_aside:
            weight = -min(abs(weight) * 0.3, MAX_LINE_PENALTY)
        elif index <= title and weight > 0:
            weight *= ABOVE_TITLE_FACTOR
        final_weights.append(weight)
    return final_weights


def find_best_span(layout: Layout, hints: Sequence[Hint], weights: Sequence[float], title: int) -> int:
    """Index of the element with the highest score, the innermost of equals; -1 where none gains anything."""
    scores = score_spans(layout, hints, weights, title)
    best = max(scores, default=0.0)
    return len(scores) - 1 - scores[::-1].index(best) if best > 0 else -1


def score_spans(layout: Layout, hints: Sequence[Hint], weights: Sequence[float], title: int) -> list[float]:
    """For each element the sum of its lines' weights, its name and the title's place counted in; 0 for no gain."""
    cumulative_weight = [0.0, *accumulate(weights)]
    near_row = last_line_number_near_title(title, layout.lines)
    scores = []
    for span, hint in zip(layout.spans, hints, strict=True):
        gain = (
            cumulative_weight[span.end_line]
            - cumulative_weight[span.start_line]
            - SKIPPED_LINK_PENALTY * span.skipped_link_size
        )
        score = gain * HINT_GAIN_FACTORS[hint] + HINT_BONUSES[hint] if gain > 0 else 0.0
        if score > 0 and span.start_line_number <= near_row and title < span.end_line:
            score += NEAR_TITLE_BONUS
        scores.append(score)
    return scores


def select_body_lines(layout: Layout, choice: ElementChoice, title: int) -> list[int]:
    """Indices of the lines of the chosen element that belong to the article."""
    lines = layout.lines
    start = first_body_line(choice, title)
    line_indices = [index for index in range(start, choice.span.end_line) if not choice.is_aside[index]]
    line_indices = cut_after_article_end(line_indices, lines, choice.weights)
    line_indices = cut_leading_bylines(line_indices, lines)
    line_indices = cut_trailing_lines(line_indices, lines)
    return [index for index in line_indices if is_body_line(index, layout)]


def first_body_line(choice: ElementChoice, title: int) -> int:
    """The line below the title, or the element's first where the title is not in it, or has much of it above."""
    span = choice.span
    if not span.start_line <= title < span.end_line:
        return span.start_line
    above = positive_sum(choice.weights[span.start_line : title])
    total = positive_sum(choice.weights[span.start_line : span.end_line])
    return title + 1 if above < MAX_GAIN_ABOVE_TITLE * total else span.start_line


def cut_after_article_end(line_indices: list[int], lines: Sequence[Line], weights: Sequence[float]) -> list[int]:
    """Cut at the first line that heads comments or related news, if most of the gain stands before it."""
    total = sum(max(0.0, weights[index]) for index in line_indices)
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


def drop_repeated_lines(line_indices: list[int], lines: Sequence[Line], template_line_hashes: Set[int]) -> list[int]:
    """What is left where the lines that many pages of the site show are taken out."""
    return (
        [index for index in line_indices if text_hash64(lines[index].text) not in template_line_hashes]
        if template_line_hashes
        else line_indices
    )


def longest_text_line(lines: Sequence[Line], line_indices: Sequence[int]) -> float:
    """Size of the longest line outside links."""
    return max((lines[index].size - lines[index].link_size for index in line_indices), default=0.0)


def cut_trailing_lines(line_indices: list[int], lines: Sequence[Line]) -> list[int]:
    """Cut the short lines without punctuation behind the last sentence: buttons, counters, tags."""
    end = len(line_indices)
    while end and not is_sentence(lines[line_indices[end - 1]]):
        end -= 1
    return line_indices[:end] if end and len(line_indices) - end <= MAX_TAIL_LINES else line_indices


def is_sentence(line: Line) -> bool:
    """Long enough to be read, with punctuation or without."""
    return line.size >= MIN_LONG_LINE_SIZE or (line.size >= MIN_SENTENCE_SIZE and line.has_punctuation)


def cut_leading_bylines(line_indices: list[int], lines: Sequence[Line]) -> list[int]:
    """Cut the short lines with date, source and author that stand between title and text."""
    cut_position = 0
    for position, index in enumerate(line_indices[:12]):
        line = lines[index]
        if is_byline(line.text) and line.size < 40:
            cut_position = position + 1
        elif line.size >= MIN_SENTENCE_SIZE and line.has_punctuation and line.tag not in HEADING_TAGS:
            break
    return line_indices[cut_position:]


def is_body_line(index: int, layout: Layout) -> bool:
    """Neither a notice nor a label, nor an English caption, nor one of several lines of links."""
    line = layout.lines[index]
    if line.link_share > MAX_TEXT_LINK_SHARE and (is_article_link(line) or not is_lone_link(index, layout.lines)):
        return False
    return not (is_notice_or_label(line.text, line.size) or is_caption(line, layout))


def is_caption(line: Line, layout: Layout) -> bool:
    """A caption under a picture, but for Chinese ones: there the caption may be the whole article (WD, 1.4)."""
    if not line.text.isascii() and HAN_RE.search(line.text):
        return False
    enclosing = islice(layout.iter_enclosing(line.span_index), CAPTION_DEPTH)
    return any(layout.spans[span_index].tag_info.is_caption for span_index in enclosing) or ends_with_photo_credit(
        line.text
    )


@lru_cache(maxsize=2_000)  # asked twice of a page's lines
def is_notice_or_label(text: str, size: float) -> bool:
    """A copyright notice, a short line of template text, or a value meant for machines. `size` is that of the text."""
    if size < MAX_COPYRIGHT_SIZE and (is_copyright(text) or is_republication_note(text)):
        return True
    return (size < MAX_LABEL_SIZE and is_template_label(text)) or is_machine_value(text)


def is_article_link(line: Line) -> bool:
    """A paragraph that is nothing but a link to another article, in Latin letters."""
    if line.tag in HEADING_TAGS or line.size < MIN_POINTER_SIZE or line.link_share < FULL_LINK_SHARE:
        return False
    return not line.text.endswith((".", ":")) and not HAN_RE.search(line.text)


def is_lone_link(index: int, lines: Sequence[Line]) -> bool:
    """A line of link text between lines of text, as a source or a name in an article is."""
    return sum(line.link_share > MAX_TEXT_LINK_SHARE for line in lines[max(0, index - 1) : index + 2]) == 1
