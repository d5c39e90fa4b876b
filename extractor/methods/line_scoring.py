"""Our body method, `blocks`: weigh every line, take the element that gains most, then read its lines critically.

    1 weigh     a sentence outside links gains its length; link lists, notices and labels lose
    2 demote    lines in elements named as navigation, comments, related news ... gain nothing
    3 choose    the element with the largest sum of weights, helped by names and by the title's place
    4 filter    inside it, drop labels, link runs, notices, the lines before the text and after its end

Every step is a pure function of the page's lines (extractor/page/lines.py).
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice
from typing import ClassVar

from docstore.model import line_hash
from extractor.fields.dates.date import Published, find_date
from extractor.fields.title import find_title
from extractor.methods.anchor import is_near, last_row_near, title_place
from extractor.methods.asides import aside_lines, lists_pages, settled_hints
from extractor.methods.contract import Body, Explanation
from extractor.methods.explanation import explain_lines
from extractor.page.document import Document
from extractor.page.dom import HEADINGS
from extractor.page.layout import LINK_LINE, Layout, Line, Span, render
from extractor.page.markup_hints import Hint
from extractor.page.phrases import (
    ends_article,
    is_copyright,
    is_credited,
    is_machine,
    is_meta_line,
    is_signature,
    is_template,
    repeats,
)
from extractor.settings import ExtractSettings
from text.scripts import HAN

LOSS = 15.0  # most that one bad line takes away, in Chinese characters
LINK_LOSS = 20.0  # the same for a line of links, of which LINK_FACTOR counts
LINK_FACTOR = 0.6
SENTENCE = 8.0  # shortest line with punctuation that counts as a sentence
LONG_LINE = 20.0  # a line this long counts in part even without punctuation
LEFT_OUT_LOSS = 0.18  # of the links that were left out: what LINK_FACTOR leaves in an aside
# By Hint: body, article, none, aside, hidden, after.
HINT_GAIN = (1.6, 1.15, 1.0, 0.6, 0.6, 0.3)
HINT_BONUS = (60.0, 3.0, 0.0, 0.0, 0.0, 0.0)
ASIDE_SHARE = 0.5  # an element with more of the page's gain than this is no aside, whatever its name
LONGEST_TAIL = 30  # lines without punctuation that may be cut behind the last sentence
CAPTION_DEPTH = 3  # elements between a caption's text and the element that is named as one
HEADLINE = 8.0  # shortest link that may be a headline
ALL_LINK = 0.95
CHINESE = re.compile(f"[{HAN}]")
NOTICE = 300.0  # a longer line that speaks of copyright is about copyright
LABEL = 45.0  # longest line that may be a label of the template
MIN_SHARE = 0.04  # of the page's gain that a body must have for the names around it to be believed
MAX_ABOVE_TITLE = 0.3  # of an article's gain that may stand above its title
NEAR_BONUS = 80.0  # what it is worth to start shortly below the title, in Chinese characters
ENOUGH_BEFORE_END = 0.5  # of an article's gain that stands before the heading of what follows it
LONG_AFTER = 60.0  # behind the editor's name, a line this long says that the article goes on
MIN_BELOW_TITLE = 0.3  # of the page's gain that stands below a title
BEFORE_TITLE = 0.3  # what lines above the title are worth


@dataclass(frozen=True)
class LineScoring:
    """Body method `blocks`."""

    settings: ExtractSettings
    reads_whole: ClassVar[bool] = False
    reads_stated: ClassVar[bool] = True

    def choose(self, document: Document) -> Body | None:
        """The body, or None where no element gains anything."""
        layout = document.layout
        hints = settled_hints(layout.spans)
        weights = weigh_all(layout.lines, document.site.repeated)
        place = title_place(document)
        title = believed(place, weights)
        choice = choose_element(layout, hints, weights, title)
        kept = keep_lines(layout, choice, title) if choice is not None else []
        kept = without(kept, layout.lines, document.site.repeated)
        if choice is None or not kept:
            return None
        return Body(choice.place, tuple(kept), render(layout.lines[index] for index in kept), place, choice.sure)

    def explain(self, document: Document) -> Explanation:
        """The lines by their final weights, the elements by the scores among which the choice fell."""
        layout, hints = document.layout, settled_hints(document.layout.spans)
        weights = weigh_all(layout.lines, document.site.repeated)
        title = believed(title_place(document), weights)
        choice = choose_element(layout, hints, weights, title)
        final = choice.weights if choice is not None else weights
        return explain_lines(document, self.choose(document), final, span_scores(layout, hints, final, title))

    def title(self, document: Document, body: Body) -> str:
        """See extractor/fields/title.py."""
        return find_title(document, body, document.site.suffixes)

    def published(self, document: Document, body: Body, latest: str) -> Published:
        """See extractor/fields/dates/date.py."""
        return find_date(document, body.span, latest)


@dataclass(frozen=True)
class Choice:
    """A chosen element (`place` among the spans), with every line's final weight and whether it stands in an aside."""

    span: Span
    place: int
    weights: Sequence[float]
    asides: Sequence[bool]
    sure: bool


def choose_element(layout: Layout, hints: Sequence[Hint], weights: Sequence[float], title: int) -> Choice | None:
    """The best element. Names of asides are believed less and less until a good one is left.

    Believed in full, they must leave an element that is named as the body and near the title, or a caption below the
    title where all else is a list of other pages; believed where they hold no more than ASIDE_SHARE, one near the
    title, or one that holds enough. Last, no name is believed.
    """
    spans = layout.spans
    enough = MIN_SHARE * sum(max(0.0, weight) for weight in weights)
    for share in (1.0, ASIDE_SHARE, 0.0):
        asides = aside_lines(spans, hints, weights, title, share)
        settled = settle(weights, asides, title)
        place = best_span(layout, hints, settled, title)
        if place < 0:
            continue
        span, near = spans[place], is_near(spans[place], title, layout.lines)
        if share == 1.0:
            is_good = near and (
                hints[place] is Hint.BODY or is_caption_above_lists(layout, hints, weights, span, title)
            )
        else:
            is_good = share == 0.0 or near or gain_of(settled[span.start : span.end]) > enough
        if is_good:
            return Choice(span, place, settled, asides, share > 0.0)
    return None


def is_caption_above_lists(
    layout: Layout, hints: Sequence[Hint], weights: Sequence[float], span: Span, title: int
) -> bool:
    """Below the title stands a sentence, and all that is called an aside and has more text lists other pages: however
    much text such a list holds, it is no part of an article that is a picture and its caption.
    """
    lines = layout.lines
    caption = next((at for at in range(max(span.start, title + 1), span.end) if is_own(lines[at])), -1)
    if title < 0 or caption < 0:
        return False
    gains = [0.0, *accumulate(max(0.0, weight) for weight in weights)]
    large = [
        one
        for one, hint in zip(layout.spans, hints, strict=True)
        if hint is Hint.ASIDE and gains[one.end] - gains[one.start] > ASIDE_SHARE * gains[-1]
    ]
    return bool(large) and all(one.start > caption and lists_pages(lines[one.start : one.end]) for one in large)


def is_own(line: Line) -> bool:
    """A sentence that is no link and no line of date and author."""
    return is_sentence(line) and line.link_share <= LINK_LINE and not is_meta_line(line.text)


def weigh_all(lines: Sequence[Line], repeated: Set[int] = frozenset()) -> list[float]:
    """Weights of all lines; a long line that was there before is a copy and weighs nothing.

    A line that many pages of the site show (`repeated`, by line_hash) is part of its template.
    """
    seen: set[str] = set()
    weights = []
    for line in lines:
        if repeated and line_hash(line.text) in repeated:
            weights.append(-min(line.size, LOSS))
        elif line.size > LONG_LINE and line.text in seen:
            weights.append(0.0)
        else:
            weights.append(weigh(line))
        seen.add(line.text)
    return weights


def believed(title: int, weights: Sequence[float]) -> int:
    """The title's place, or -1 where too little of the page's gain stands below it for it to be the title."""
    gains = [max(0.0, weight) for weight in weights]
    return title if sum(gains[title + 1 :]) >= MIN_BELOW_TITLE * sum(gains) else -1


def gain_of(weights: Sequence[float]) -> float:
    """Sum of the positive weights."""
    return sum(weight for weight in weights if weight > 0)


def weigh(line: Line) -> float:
    """What a line says for its element being the body, on its own."""
    own = line.size - line.link_size
    if line.link_share > LINK_LINE:
        return -min(line.size, LINK_LOSS) * LINK_FACTOR
    if is_notice_or_label(line.text, line.size):
        return -min(line.size, LOSS)
    if line.size >= SENTENCE and line.punctuated:
        return own
    if line.size >= LONG_LINE:
        return own * 0.5
    return own * 0.1


def settle(weights: Sequence[float], asides: Sequence[bool], title: int) -> list[float]:
    """Final weights: asides lose a little, what stands above the title counts for less."""
    settled = []
    for index, (weight, aside) in enumerate(zip(weights, asides, strict=True)):
        if aside:
            weight = -min(abs(weight) * 0.3, LOSS)
        elif index <= title and weight > 0:
            weight *= BEFORE_TITLE
        settled.append(weight)
    return settled


def best_span(layout: Layout, hints: Sequence[Hint], weights: Sequence[float], title: int) -> int:
    """Index of the element with the highest score, the innermost of equals; -1 where none gains anything."""
    scores = span_scores(layout, hints, weights, title)
    best = max(scores, default=0.0)
    return len(scores) - 1 - scores[::-1].index(best) if best > 0 else -1


def span_scores(layout: Layout, hints: Sequence[Hint], weights: Sequence[float], title: int) -> list[float]:
    """For each element the sum of its lines' weights, its name and the title's place counted in; 0 for no gain."""
    sums = [0.0, *accumulate(weights)]
    near_row = last_row_near(title, layout.lines)
    scores = []
    for span, hint in zip(layout.spans, hints, strict=True):
        gain = sums[span.end] - sums[span.start] - LEFT_OUT_LOSS * span.loss
        score = gain * HINT_GAIN[hint] + HINT_BONUS[hint] if gain > 0 else 0.0
        if score > 0 and span.row <= near_row and title < span.end:
            score += NEAR_BONUS
        scores.append(score)
    return scores


def keep_lines(layout: Layout, choice: Choice, title: int) -> list[int]:
    """Indices of the lines of the chosen element that belong to the article."""
    lines = layout.lines
    start = first_line(choice, title)
    chosen = [index for index in range(start, choice.span.end) if not choice.asides[index]]
    chosen = cut_end(chosen, lines, choice.weights)
    chosen = cut_start(chosen, lines)
    chosen = cut_tail(chosen, lines)
    return [index for index in chosen if belongs(index, layout)]


def first_line(choice: Choice, title: int) -> int:
    """The line below the title, or the element's first where the title is not in it, or has much of it above."""
    span = choice.span
    if not span.start <= title < span.end:
        return span.start
    above = gain_of(choice.weights[span.start : title])
    whole = gain_of(choice.weights[span.start : span.end])
    return title + 1 if above < MAX_ABOVE_TITLE * whole else span.start


def cut_end(chosen: list[int], lines: Sequence[Line], weights: Sequence[float]) -> list[int]:
    """Cut at the first line that heads comments or related news, if most of the gain stands before it."""
    total = sum(max(0.0, weights[index]) for index in chosen)
    before = 0.0
    for place, index in enumerate(chosen):
        text = lines[index].text
        if ends_article(text) and before > ENOUGH_BEFORE_END * total:
            return chosen[:place]
        if before > 0 and is_signature(text) and longest(lines, chosen[place + 1 :]) < LONG_AFTER:
            return chosen[:place]
        before += max(0.0, weights[index])
    return chosen


def without(kept: list[int], lines: Sequence[Line], repeated: Set[int]) -> list[int]:
    """What is left where the lines that many pages of the site show are taken out."""
    return [index for index in kept if line_hash(lines[index].text) not in repeated] if repeated else kept


def longest(lines: Sequence[Line], chosen: Sequence[int]) -> float:
    """Size of the longest line outside links."""
    return max((lines[index].size - lines[index].link_size for index in chosen), default=0.0)


def cut_tail(chosen: list[int], lines: Sequence[Line]) -> list[int]:
    """Cut the short lines without punctuation behind the last sentence: buttons, counters, tags."""
    end = len(chosen)
    while end and not is_sentence(lines[chosen[end - 1]]):
        end -= 1
    return chosen[:end] if end and len(chosen) - end <= LONGEST_TAIL else chosen


def is_sentence(line: Line) -> bool:
    """Long enough to be read, with punctuation or without."""
    return line.size >= LONG_LINE or (line.size >= SENTENCE and line.punctuated)


def cut_start(chosen: list[int], lines: Sequence[Line]) -> list[int]:
    """Cut the short lines with date, source and author that stand between title and text."""
    place = 0
    for here, index in enumerate(chosen[:12]):
        line = lines[index]
        if is_meta_line(line.text) and line.size < 40:
            place = here + 1
        elif line.size >= SENTENCE and line.punctuated and line.tag not in HEADINGS:
            break
    return chosen[place:]


def belongs(index: int, layout: Layout) -> bool:
    """Neither a notice nor a label, nor an English caption, nor one of several lines of links."""
    line = layout.lines[index]
    if line.link_share > LINK_LINE and (is_pointer(line) or not is_lone_link(index, layout.lines)):
        return False
    return not (is_notice_or_label(line.text, line.size) or is_caption(line, layout))


def is_caption(line: Line, layout: Layout) -> bool:
    """A caption under a picture, but for Chinese ones: there the caption may be the whole article (WD, 1.4)."""
    if not line.text.isascii() and CHINESE.search(line.text):
        return False
    near = islice(layout.above(line.span), CAPTION_DEPTH)
    return any(layout.spans[place].facts.caption for place in near) or is_credited(line.text)


@lru_cache(maxsize=2_000)  # asked twice of a page's lines
def is_notice_or_label(text: str, size: float) -> bool:
    """A copyright notice, a short line of template text, or a value meant for machines. `size` is that of the text."""
    if size < NOTICE and (is_copyright(text) or repeats(text)):
        return True
    return (size < LABEL and is_template(text)) or is_machine(text)


def is_pointer(line: Line) -> bool:
    """A paragraph that is nothing but a link to another article, in Latin letters."""
    if line.tag in HEADINGS or line.size < HEADLINE or line.link_share < ALL_LINK:
        return False
    return not line.text.endswith((".", ":")) and not CHINESE.search(line.text)


def is_lone_link(index: int, lines: Sequence[Line]) -> bool:
    """A line of link text between lines of text, as a source or a name in an article is."""
    return sum(line.link_share > LINK_LINE for line in lines[max(0, index - 1) : index + 2]) == 1
