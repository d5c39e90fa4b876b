"""Finds the lines in elements whose names mark them as outside the article, for the method `blocks`."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate

from extractor.page.layout import Layout, Line, Span
from extractor.page.tag_info import Hint, attribute_value

MAX_HIDDEN_SHARE = 0.6  # a hidden element with a larger share of the gain is shown by a script after loading
MIN_MAIN_ARTICLE_GAIN = 80.0  # with this gain an <article> is the main one; later ones are other articles
MAX_OTHER_ARTICLE_GAIN = 10.0  # a later <article> with more than this times the gain is the text of the main one
MIN_HEADLINE_SIZE = 6.0  # minimum size of a link that can be a headline, in Chinese characters
MAX_OFFER_SIZE = 300.0  # of an element that offers the rest of the text
PAYWALL_RE = re.compile("(?:pay|reg)[-_]?wall")
PRICE_RE = re.compile(r"[€$£¥￥]\s?\d|\d\s?(?:[€£元]|euro|eur\b|usd\b)", re.I)
ACCOUNT_HREF_RE = re.compile("log-?in|sign-?(?:in|up)|account|subscri|abo|regist", re.I)
MIN_COPIED_SENTENCE_SIZE = 12.0  # minimum size of a sentence that marks a copy of an element
MIN_LIST_HEADLINES = 3  # minimum number of headlines in a list of other pages


def resolve_hints(layout: Layout) -> list[Hint]:
    """Return the hints of all spans, with contradicting hints corrected.

    A "body" inside comments becomes FOOTER_OR_COMMENTS, and so does an offer to pay for the rest of the text. If
    siblings share a "body" class, they are paragraphs (ARTICLE) and their parent becomes the body.
    """
    hints, spans = list[Hint](), layout.spans
    for span in spans:
        hint = Hint.FOOTER_OR_COMMENTS if is_payment_offer(layout, span) else span.tag_info.hint
        is_below_comments = span.parent_index >= 0 and hints[span.parent_index] is Hint.FOOTER_OR_COMMENTS
        hints.append(Hint.FOOTER_OR_COMMENTS if is_below_comments and hint in (Hint.BODY, Hint.NONE) else hint)
    body_indices_by_parent: dict[int, list[int]] = {}
    for span_index, hint in enumerate(hints):
        if hint is Hint.BODY and spans[span_index].parent_index >= 0:
            body_indices_by_parent.setdefault(spans[span_index].parent_index, []).append(span_index)
    for parent, child_indices in body_indices_by_parent.items():
        if len({spans[span_index].tag_info.identifiers for span_index in child_indices}) < len(child_indices):
            hints[parent] = Hint.BODY
            for span_index in child_indices:
                hints[span_index] = Hint.ARTICLE
    return hints


def is_payment_offer(layout: Layout, span: Span) -> bool:
    """Return whether an element named a paywall is an offer: short, with a price or a link to an account.

    Many sites give this name to the text behind the wall.
    """
    if "wall" not in span.tag_info.identifiers or not PAYWALL_RE.search(span.tag_info.identifiers):
        return False
    lines = layout.lines[span.start_line : span.end_line]
    return sum(line.size for line in lines) <= MAX_OFFER_SIZE and any(
        PRICE_RE.search(line.text)
        or any(ACCOUNT_HREF_RE.search(attribute_value("href", attribute_text)) for _, _, attribute_text in line.links)
        for line in lines
    )


def aside_line_mask(
    spans: Sequence[Span], hints: Sequence[Hint], cumulative_gain: Sequence[float], title_line: int, max_share: float
) -> list[bool]:
    """Return for each line whether it is in an element whose name marks it as outside the article.

    A name is ignored if the element contains the title or, for asides, an element named as the body.

    Args:
        hints: Resolved hint of each span.
        cumulative_gain: Sum of the positive weights before each line index, and of all lines.
        title_line: Index of the title's line, -1 if unknown.
        max_share: The name of an aside or hidden element is ignored if it has more than this share of the page's gain.
            With 0, the name is used only for elements without gain.
    """
    max_gain_by_hint = {
        Hint.ASIDE: max_share * cumulative_gain[-1],
        Hint.HIDDEN: min(max_share, MAX_HIDDEN_SHARE) * cumulative_gain[-1],
        Hint.FOOTER_OR_COMMENTS: cumulative_gain[-1] if max_share else 0.0,
    }
    body_ancestors = ancestors_of(spans, [span_index for span_index, hint in enumerate(hints) if hint is Hint.BODY])
    mask = (
        other_article_line_mask(spans, cumulative_gain, title_line)
        if max_share
        else [False] * (len(cumulative_gain) - 1)
    )
    covered_until = 0  # lines before this index are decided: spans are ordered outermost first
    for span_index, (span, hint) in enumerate(zip(spans, hints, strict=True)):
        if hint < Hint.ASIDE or span.end_line <= covered_until or span.start_line <= title_line < span.end_line:
            continue
        if hint is Hint.ASIDE and span_index in body_ancestors:
            continue
        if cumulative_gain[span.end_line] - cumulative_gain[span.start_line] <= max_gain_by_hint[hint]:
            mask[span.start_line : span.end_line] = [True] * (span.end_line - span.start_line)
            covered_until = span.end_line
    return mask


def other_article_line_mask(spans: Sequence[Span], cumulative_gain: Sequence[float], title_line: int) -> list[bool]:
    """Return for each line whether it is in an <article> after the main one.

    The main <article> contains the title and has a gain of at least MIN_MAIN_ARTICLE_GAIN; without it, no line is
    masked.
    """
    mask = [False] * (len(cumulative_gain) - 1)
    articles = [span for span in spans if span.tag_info.tag == "article"]
    main_article = next((span for span in articles if span.start_line <= title_line < span.end_line), None)
    if main_article is None:
        return mask
    main_gain = cumulative_gain[main_article.end_line] - cumulative_gain[main_article.start_line]
    if main_gain < MIN_MAIN_ARTICLE_GAIN:
        return mask
    for span in articles:
        gain = cumulative_gain[span.end_line] - cumulative_gain[span.start_line]
        if span.start_line >= main_article.end_line and gain <= MAX_OTHER_ARTICLE_GAIN * main_gain:
            mask[span.start_line : span.end_line] = [True] * (span.end_line - span.start_line)
    return mask


def find_screen_copies(layout: Layout) -> frozenset[int]:
    """Return the lines of elements that repeat an earlier child of the same element under another class.

    Those are copies for other screens. A refrain has the class of the verse that it repeats.
    """
    lines, span_by_texts, copied_lines = layout.lines, dict[tuple[int, tuple[str, ...]], Span](), set[int]()
    sentences = [line for line in lines if line.size >= MIN_COPIED_SENTENCE_SIZE]
    if len({line.text for line in sentences}) == len(sentences):
        return frozenset()  # most pages
    counts = Counter(line.text for line in lines)
    repeated_sentences = {line.text for line in sentences if counts[line.text] > 1 and line.has_punctuation}
    unique_before = [0, *accumulate(counts[line.text] == 1 for line in lines)]
    for span in layout.spans if repeated_sentences else ():
        if span.start_line in copied_lines or unique_before[span.start_line] < unique_before[span.end_line]:
            continue
        span_texts = tuple(line.text for line in lines[span.start_line : span.end_line])
        if repeated_sentences.isdisjoint(span_texts):
            continue
        first = span_by_texts.setdefault((span.parent_index, span_texts), span)
        if first.end_line <= span.start_line and screen_key(first) != screen_key(span):
            copied_lines.update(range(span.start_line, span.end_line))
    return frozenset(copied_lines)


def screen_key(span: Span) -> tuple[str, str]:
    """Return class and style of an element, by which the style sheet shows it on some screens only."""
    attribute_text = span.tag_info.attribute_text
    return attribute_value("class", attribute_text), attribute_value("style", attribute_text)


def ancestors_of(spans: Sequence[Span], span_indices: Iterable[int]) -> set[int]:
    """Return the indices of all ancestors of these spans."""
    ancestors: set[int] = set()
    for span_index in span_indices:
        parent = spans[span_index].parent_index
        while parent >= 0 and parent not in ancestors:
            ancestors.add(parent)
            parent = spans[parent].parent_index
    return ancestors


def is_link_list(lines: Sequence[Line]) -> bool:
    """Return True for a list of other pages: linked headlines, at least as many as lines of text (teasers)."""
    headlines = sum(line.is_link and line.size >= MIN_HEADLINE_SIZE for line in lines)
    texts = sum(not line.is_link and line.size >= MIN_HEADLINE_SIZE and line.has_punctuation for line in lines)
    return headlines >= max(MIN_LIST_HEADLINES, texts)
