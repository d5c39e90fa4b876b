"""Explains the decisions of a body method, for `plumb explain`; extraction itself never uses it.

Everything is derived from the page and the chosen body, so that choosing a body has no extra cost.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import accumulate, takewhile

from domain.article import text_hash64
from extractor.body_methods.base import BodyCandidate, Explanation, LineVerdict
from extractor.body_methods.element_counts import ElementCounts
from extractor.body_methods.tag_blocks import TagBlock, build_tag_blocks
from extractor.page.boilerplate_phrases import is_copyright, is_template_label
from extractor.page.layout import Layout, Line
from extractor.page.parsed_page import Body, ParsedPage, with_complete_layout
from extractor.page.tag_info import Hint, TagInfo

MAX_CANDIDATES = 12
MIN_RIVAL_SCORE_RATIO = 0.3  # a smaller score, relative to an enclosing candidate: only a part of that candidate
CAPTION_DEPTH = 3  # maximum number of elements between the text of a caption and its caption element
REASON_KEPT = "kept"
REASON_OUTSIDE = "outside the chosen element"
REASON_BEFORE_TEXT = "before the text begins"
REASON_AFTER_TEXT = "after the end of the text"
REASON_ASIDE = "in an element whose name marks it as outside the article"
REASON_HIDDEN = "hidden when the page opens"
REASON_REPEATED = "on many pages of the site"
REASON_LINKS = "link text"
REASON_COPYRIGHT = "copyright notice"
REASON_LABEL = "label of the template"
REASON_CAPTION = "caption"
REASON_INSIDE = "inside the text, but not part of it"
REASON_NO_CHOICE = "no element was chosen"
VERDICT_REASONS = (
    *(
        REASON_KEPT,
        REASON_BEFORE_TEXT,
        REASON_ASIDE,
        REASON_HIDDEN,
        REASON_REPEATED,
        REASON_LINKS,
        REASON_COPYRIGHT,
        REASON_LABEL,
        REASON_CAPTION,
        REASON_INSIDE,
        REASON_AFTER_TEXT,
    ),
    *(REASON_OUTSIDE, REASON_NO_CHOICE),
)
"""All values of `LineVerdict.why`, in the order of the legend."""


def explain_line_scoring(
    page: ParsedPage, body: Body | None, weights: Sequence[float], scores: Sequence[float]
) -> Explanation:
    """Explain a method that weighs lines and chooses the element with the best score.

    Args:
        page: The page.
        body: Its chosen body, or None.
        weights: Weight of each line.
        scores: Score of each span.
    """
    layout = page.layout
    chosen_span = body.span_index if body is not None else -1
    cumulative_gain = [0.0, *accumulate(max(0.0, weight) for weight in weights)]
    candidates = tuple(
        BodyCandidate(
            span_index,
            scores[span_index],
            {**span_features(layout, span_index), "gain": span_gain(layout, span_index, cumulative_gain)},
        )
        for span_index in best_spans(layout, scores, chosen_span)
    )
    return Explanation(candidates, line_verdicts(page, body, weights), chosen_span)


def span_gain(layout: Layout, span_index: int, cumulative_gain: Sequence[float]) -> float:
    """Return the sum of the positive line weights in an element."""
    span = layout.spans[span_index]
    return cumulative_gain[span.end_line] - cumulative_gain[span.start_line]


def best_spans(layout: Layout, scores: Sequence[float], chosen_span: int) -> list[int]:
    """Return the best elements and the chosen one, best first.

    Of elements with the same lines, only the chosen one is listed, otherwise the innermost.
    """
    by_lines = {
        (layout.spans[span_index].start_line, layout.spans[span_index].end_line): span_index
        for span_index in range(len(scores))
    }
    if chosen_span >= 0:
        by_lines[layout.spans[chosen_span].start_line, layout.spans[chosen_span].end_line] = chosen_span
    ranking: list[int] = []
    for span_index in sorted(by_lines.values(), key=lambda span_index: -scores[span_index]):
        if span_index == chosen_span or (
            len(ranking) < MAX_CANDIDATES and is_rival(layout, span_index, ranking, scores)
        ):
            ranking.append(span_index)
    return ranking


def is_rival(layout: Layout, span_index: int, better_spans: Sequence[int], scores: Sequence[float]) -> bool:
    """Return True if an element has a score and is not a small part of a better candidate."""
    span = layout.spans[span_index]
    larger_spans = [
        layout.spans[other] for other in better_spans if scores[span_index] < MIN_RIVAL_SCORE_RATIO * scores[other]
    ]
    return scores[span_index] > 0 and not any(
        larger.start_line <= span.start_line and span.end_line <= larger.end_line for larger in larger_spans
    )


def span_features(layout: Layout, span_index: int) -> dict[str, float | str]:
    """Return features of an element: its hint, number of lines, sizes in Chinese characters, share of link text."""
    span = layout.spans[span_index]
    lines = layout.lines[span.start_line : span.end_line]
    text, links = sum(line.size for line in lines), sum(line.link_size for line in lines)
    return {
        "hint": span.tag_info.hint.name.lower(),
        "lines": len(lines),
        "text": text,
        "links": links,
        "link share": links / text if text else 0.0,
        "punctuation": sum(line.punctuation_count for line in lines),
    }


def explain_element_counts(
    page: ParsedPage,
    ranked_elements: Sequence[ElementCounts],
    score: Callable[[ElementCounts], float],
    body: Body | None,
    extra_features: Callable[[ElementCounts], Mapping[str, float | str]] = lambda block: {},
) -> Explanation:
    """Explain a method of the paper: its candidates, best first, with their WD-F3 counts and `extra_features`.

    The paper scores elements, not lines: all line weights are 0.
    """
    layout, top_candidates = page.layout, ranked_elements[:MAX_CANDIDATES]
    index_by_element = {element: element_index for element_index, element in enumerate(page.root.iter())}
    starts = [span.element_index for span in layout.spans]
    candidates = tuple(
        BodyCandidate(
            max(0, bisect_right(starts, index_by_element[block.element]) - 1),
            score(block),
            {**count_features(block), **extra_features(block)},
        )
        for block in top_candidates
    )
    weights = [0.0] * len(layout.lines)
    return Explanation(candidates, line_verdicts(page, body, weights), body.span_index if body is not None else -1)


def count_features(block: ElementCounts) -> dict[str, float | str]:
    """Return the WD-F3 counts by their letters, for example T (text), L (links), V (deviation), DS (density sum)."""
    return {
        "T": block.text_chars,
        "L": block.link_chars,
        "G": block.element_count,
        "A": block.anchor_count,
        "P": block.paragraph_count,
        "S": block.strong_count,
        "I": block.image_count,
        "Q": block.punctuation_count,
        "V": block.leaf_length_deviation,
        "DS": block.density_sum,
    }


def with_tag_block_features(page: ParsedPage, explanation: Explanation) -> Explanation:
    """Add features of Wu's tag blocks to each candidate (WY-F3 to WY-F5).

    The features are the block type with the largest weight, the largest impact, and the sum of the weights, which is
    the element's share of the page's impact.
    """
    layout = with_complete_layout(page).layout
    blocks_by_element = defaultdict[int, list[TagBlock]](list)
    for block in build_tag_blocks(page):
        for span_index in layout.iter_enclosing(block.span_index):
            blocks_by_element[layout.spans[span_index].element_index].append(block)
    element_indices = [span.element_index for span in page.layout.spans]
    return replace(
        explanation,
        candidates=tuple(
            replace(
                candidate,
                features={
                    **candidate.features,
                    **tag_block_features(blocks_by_element[element_indices[candidate.span]]),
                },
            )
            for candidate in explanation.candidates
        ),
    )


def tag_block_features(blocks: Sequence[TagBlock]) -> dict[str, float | str]:
    """Return type, impact and weight of the tag blocks in an element."""
    by_type = defaultdict[str, float](float)
    for block in blocks:
        by_type[block.type.value] += block.weight
    return {
        "type": max(by_type, key=by_type.__getitem__, default=""),
        "impact": max((block.impact for block in blocks), default=0.0),
        "weight": sum(block.weight for block in blocks),
    }


def line_verdicts(page: ParsedPage, body: Body | None, weights: Sequence[float]) -> tuple[LineVerdict, ...]:
    """Return a verdict for every line of the page."""
    kept_lines = frozenset(body.line_indices) if body is not None else frozenset()
    return tuple(
        LineVerdict(
            index,
            weights[index],
            index in kept_lines,
            REASON_KEPT if index in kept_lines else drop_reason(page, body, index),
        )
        for index in range(len(page.layout.lines))
    )


def drop_reason(page: ParsedPage, body: Body | None, index: int) -> str:
    """Return the most likely reason why a line is not part of the body."""
    layout, chosen_span = page.layout, body.span_index if body is not None else -1
    line = layout.lines[index]
    ancestor_tags = [
        layout.spans[span_index].tag_info
        for span_index in takewhile(
            lambda span_index: span_index != chosen_span, layout.iter_enclosing(line.span_index)
        )
    ]
    if body is None:
        return line_drop_reason(line, ancestor_tags, page.site_template.template_line_hashes) or REASON_NO_CHOICE
    if not layout.spans[chosen_span].start_line <= index < layout.spans[chosen_span].end_line:
        return REASON_OUTSIDE
    reason = line_drop_reason(line, ancestor_tags, page.site_template.template_line_hashes)
    if reason:
        return reason
    if index < body.line_indices[0]:
        return REASON_BEFORE_TEXT
    return REASON_AFTER_TEXT if index > body.line_indices[-1] else REASON_INSIDE


def line_drop_reason(line: Line, ancestor_tags: Sequence[TagInfo], template_line_hashes: Set[int]) -> str:
    """Return why a line is dropped wherever it is in the body element, or an empty string."""
    if any(tag_info.is_caption for tag_info in ancestor_tags[:CAPTION_DEPTH]):
        return REASON_CAPTION
    hints = {tag_info.hint for tag_info in ancestor_tags}
    if Hint.HIDDEN in hints:
        return REASON_HIDDEN
    if Hint.ASIDE in hints or Hint.FOOTER_OR_COMMENTS in hints:
        return REASON_ASIDE
    if text_hash64(line.text) in template_line_hashes:
        return REASON_REPEATED
    if is_copyright(line.text):
        return REASON_COPYRIGHT
    if is_template_label(line.text):
        return REASON_LABEL
    return REASON_LINKS if line.is_link else ""
