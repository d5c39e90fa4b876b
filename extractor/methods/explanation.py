"""Why a method kept or dropped what it did: for the operator whose page went wrong, never on the way to an article.

Everything is read off the page and the chosen body again, so that choosing a body costs nothing more than it must.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import accumulate, takewhile

from docstore.model import line_hash
from extractor.methods.blocks import CountedBlock
from extractor.methods.contract import Body, BodyCandidate, Explanation, LineVerdict
from extractor.methods.tag_blocks import TagBlock, tag_blocks
from extractor.page.document import Document
from extractor.page.layout import LINK_LINE, Layout, Line
from extractor.page.markup_hints import Hint, TagInfo
from extractor.page.phrases import is_copyright, is_template

MAX_CANDIDATES = 12
PART = 0.3  # of the score of the element around it: with less an element is a part of it and no rival
CAPTION_DEPTH = 3  # elements between a caption's text and the element that is named as one
KEPT = "kept"
OUTSIDE = "outside the chosen element"
BEFORE = "before the text begins"
BEHIND = "behind the end of the text"
ASIDE = "in an element that is named as no part of the article"
HIDDEN = "not shown when the page opens"
REPEATED = "on many pages of the site"
LINKS = "link text"
NOTICE = "copyright notice"
LABEL = "label of the template"
CAPTION = "caption"
INSIDE = "inside the text, no part of it"
NO_CHOICE = "no element was chosen"
REASONS = (
    *(KEPT, BEFORE, ASIDE, HIDDEN, REPEATED, LINKS, NOTICE, LABEL, CAPTION, INSIDE, BEHIND),
    *(OUTSIDE, NO_CHOICE),
)
"""Every `LineVerdict.why`, in the order of a legend."""


def explain_lines(
    document: Document, body: Body | None, weights: Sequence[float], scores: Sequence[float]
) -> Explanation:
    """How a method chose that weighs lines and takes the best element.

    `weights` has one for each line, `scores` one for each span.
    """
    layout = document.layout
    chosen = body.span if body is not None else -1
    gains = [0.0, *accumulate(max(0.0, weight) for weight in weights)]
    candidates = tuple(
        BodyCandidate(place, scores[place], {**features_of(layout, place), "gain": gains_in(layout, place, gains)})
        for place in best_places(layout, scores, chosen)
    )
    return Explanation(candidates, verdicts(document, body, weights), chosen)


def gains_in(layout: Layout, place: int, gains: Sequence[float]) -> float:
    """Sum of the positive weights in an element."""
    span = layout.spans[place]
    return gains[span.end] - gains[span.start]


def best_places(layout: Layout, scores: Sequence[float], chosen: int) -> list[int]:
    """The best elements, and the chosen one; of those with the same lines the chosen, else the innermost."""
    by_lines = {(layout.spans[place].start, layout.spans[place].end): place for place in range(len(scores))}
    if chosen >= 0:
        by_lines[layout.spans[chosen].start, layout.spans[chosen].end] = chosen
    best: list[int] = []
    for place in sorted(by_lines.values(), key=lambda place: -scores[place]):
        if place == chosen or (len(best) < MAX_CANDIDATES and is_rival(layout, place, best, scores)):
            best.append(place)
    return best


def is_rival(layout: Layout, place: int, better: Sequence[int], scores: Sequence[float]) -> bool:
    """Worth a look beside the better ones: has a score, and is no small part of one of them."""
    span = layout.spans[place]
    around = [layout.spans[other] for other in better if scores[place] < PART * scores[other]]
    return scores[place] > 0 and not any(one.start <= span.start and span.end <= one.end for one in around)


def features_of(layout: Layout, place: int) -> dict[str, float | str]:
    """What an element shows: sizes in Chinese characters, its share of link text, and what its name promises."""
    span = layout.spans[place]
    lines = layout.lines[span.start : span.end]
    text, links = sum(line.size for line in lines), sum(line.link_size for line in lines)
    return {
        "hint": span.facts.hint.name.lower(),
        "lines": len(lines),
        "text": text,
        "links": links,
        "link share": links / text if text else 0.0,
        "punctuation": sum(line.marks for line in lines),
    }


def explain_blocks(
    document: Document,
    ranked: Sequence[CountedBlock],
    score: Callable[[CountedBlock], float],
    body: Body | None,
    more: Callable[[CountedBlock], Mapping[str, float | str]] = lambda block: {},
) -> Explanation:
    """How a method of the paper chose: its blocks, best first, with the counts of WD-F3 and what `more` says of them.

    The paper weighs elements, not lines: the weights of the verdicts are 0.
    """
    layout, shown = document.layout, ranked[:MAX_CANDIDATES]
    places = {element: place for place, element in enumerate(document.root.iter())}
    starts = [span.element for span in layout.spans]
    candidates = tuple(
        BodyCandidate(
            max(0, bisect_right(starts, places[block.element]) - 1), score(block), {**counts_of(block), **more(block)}
        )
        for block in shown
    )
    weights = [0.0] * len(layout.lines)
    return Explanation(candidates, verdicts(document, body, weights), body.span if body is not None else -1)


def counts_of(block: CountedBlock) -> dict[str, float | str]:
    """The counts of WD-F3 by their letters: T text, L links, V spread, DS sum of densities ..."""
    return {
        "T": block.text,
        "L": block.links,
        "G": block.elements,
        "A": block.anchors,
        "P": block.paragraphs,
        "S": block.strong,
        "I": block.images,
        "Q": block.marks,
        "V": block.spread,
        "DS": block.ds,
    }


def with_tag_blocks(document: Document, explanation: Explanation) -> Explanation:
    """The same, each candidate with what Wu's tag blocks in it say: the type that weighs most, the largest impact, and
    the sum of the weights, which is the element's share of the page's impact (WY-F3 to WY-F5).

    The document must be whole.
    """
    inside = defaultdict[int, list[TagBlock]](list)
    for block in tag_blocks(document):
        for place in document.layout.above(block.span):
            inside[place].append(block)
    return replace(
        explanation,
        candidates=tuple(
            replace(one, features={**one.features, **block_features(inside[one.span])})
            for one in explanation.candidates
        ),
    )


def block_features(blocks: Sequence[TagBlock]) -> dict[str, float | str]:
    """What the tag blocks of an element say of it."""
    by_type = defaultdict[str, float](float)
    for block in blocks:
        by_type[block.type.value] += block.weight
    return {
        "type": max(by_type, key=by_type.__getitem__, default=""),
        "impact": max((block.impact for block in blocks), default=0.0),
        "weight": sum(block.weight for block in blocks),
    }


def verdicts(document: Document, body: Body | None, weights: Sequence[float]) -> tuple[LineVerdict, ...]:
    """A verdict for every line of the page."""
    kept = frozenset(body.lines) if body is not None else frozenset()
    return tuple(
        LineVerdict(index, weights[index], index in kept, KEPT if index in kept else why_dropped(document, body, index))
        for index in range(len(document.layout.lines))
    )


def why_dropped(document: Document, body: Body | None, index: int) -> str:
    """The likeliest reason why a line is no part of the body."""
    layout, chosen = document.layout, body.span if body is not None else -1
    line = layout.lines[index]
    around = [layout.spans[place].facts for place in takewhile(lambda place: place != chosen, layout.above(line.span))]
    if body is None:
        return own_reason(line, around, document.site.repeated) or NO_CHOICE
    if not layout.spans[chosen].start <= index < layout.spans[chosen].end:
        return OUTSIDE
    reason = own_reason(line, around, document.site.repeated)
    if reason:
        return reason
    if index < body.lines[0]:
        return BEFORE
    return BEHIND if index > body.lines[-1] else INSIDE


def own_reason(line: Line, around: Sequence[TagInfo], repeated: Set[int]) -> str:
    """What is wrong with a line wherever it stands in the body's element, or ""."""
    if any(facts.caption for facts in around[:CAPTION_DEPTH]):
        return CAPTION
    hints = {facts.hint for facts in around}
    if Hint.HIDDEN in hints:
        return HIDDEN
    if Hint.ASIDE in hints or Hint.AFTER in hints:
        return ASIDE
    if line_hash(line.text) in repeated:
        return REPEATED
    if is_copyright(line.text):
        return NOTICE
    if is_template(line.text):
        return LABEL
    return LINKS if line.link_share > LINK_LINE else ""
