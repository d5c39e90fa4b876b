"""Which elements of a page are no part of its article, by their names, as far as their text does not gainsay them."""

from collections.abc import Iterable, Sequence
from itertools import accumulate

from extractor.page.layout import LINK_LINE, Line, Span
from extractor.page.markup_hints import Hint

HIDDEN_SHARE = 0.6  # an element with more of it than this is hidden only until the page has started its scripts
MIN_ARTICLE = 80.0  # gain of an <article> beside which others are other articles
HEADLINE = 6.0  # shortest link that may be a headline, in Chinese characters
MIN_HEADLINES = 3  # of a list of other pages


def settled_hints(spans: Sequence[Span]) -> list[Hint]:
    """The hints of all spans, with those that their surroundings contradict taken back.

    What is called a body among comments is a comment; a name of several neighbours names paragraphs, and the body is
    the element around them.
    """
    hints: list[Hint] = []
    for span in spans:
        hint = span.facts.hint
        below = span.parent >= 0 and hints[span.parent] is Hint.AFTER
        hints.append(Hint.AFTER if below and hint in (Hint.BODY, Hint.NONE) else hint)
    bodies: dict[int, list[int]] = {}
    for place, hint in enumerate(hints):
        if hint is Hint.BODY and spans[place].parent >= 0:
            bodies.setdefault(spans[place].parent, []).append(place)
    for parent, places in bodies.items():
        if len({spans[place].facts.name for place in places}) < len(places):
            hints[parent] = Hint.BODY
            for place in places:
                hints[place] = Hint.ARTICLE
    return hints


def aside_lines(
    spans: Sequence[Span], hints: Sequence[Hint], weights: Sequence[float], title: int, share: float
) -> list[bool]:
    """Which lines stand in an element that is named as no part of the article.

    A name is not believed where the element holds the title or (comments and footers apart) an element named as the
    body or more than `share` of the page's gain.
    """
    gains = [0.0, *accumulate(max(0.0, weight) for weight in weights)]
    most = {
        Hint.ASIDE: share * gains[-1],
        Hint.HIDDEN: min(share, HIDDEN_SHARE) * gains[-1],
        Hint.AFTER: gains[-1] if share else 0.0,
    }
    around_bodies = around(spans, [place for place, hint in enumerate(hints) if hint is Hint.BODY])
    asides = other_articles(spans, gains, title) if share else [False] * len(weights)
    covered = 0  # lines before this one are settled: spans come outermost first
    for place, (span, hint) in enumerate(zip(spans, hints, strict=True)):
        if hint < Hint.ASIDE or span.end <= covered or span.start <= title < span.end:
            continue
        if hint is Hint.ASIDE and place in around_bodies:
            continue
        if gains[span.end] - gains[span.start] <= most[hint]:
            asides[span.start : span.end] = [True] * (span.end - span.start)
            covered = span.end
    return asides


def other_articles(spans: Sequence[Span], gains: Sequence[float], title: int) -> list[bool]:
    """Which lines stand in an <article> below the one that holds the title, which must hold some text itself."""
    others = [False] * (len(gains) - 1)
    articles = [span for span in spans if span.facts.tag == "article"]
    main = next((span for span in articles if span.start <= title < span.end), None)
    if main is None or gains[main.end] - gains[main.start] < MIN_ARTICLE:
        return others
    for span in articles:
        if span.start >= main.end:
            others[span.start : span.end] = [True] * (span.end - span.start)
    return others


def around(spans: Sequence[Span], places: Iterable[int]) -> set[int]:
    """Indices of all spans around any of these."""
    found: set[int] = set()
    for place in places:
        parent = spans[place].parent
        while parent >= 0 and parent not in found:
            found.add(parent)
            parent = spans[parent].parent
    return found


def lists_pages(lines: Sequence[Line]) -> bool:
    """Headlines that are links stand there, at least as many as lines of text: a list of other pages, with teasers or
    without.
    """
    headlines = sum(line.link_share > LINK_LINE and line.size >= HEADLINE for line in lines)
    texts = sum(line.link_share <= LINK_LINE and line.size >= HEADLINE and line.punctuated for line in lines)
    return headlines >= max(MIN_HEADLINES, texts)
