"""How much readable text a body leaves out: what tells a fragment from an article.

Readable are lines of text outside of links, navigation, notices, and of what many pages of the site show. Of these,
`wide` counts all, and `strict` only sentences that stand on no card beside a headline: teasers of other articles are
left out for good.
"""

from dataclasses import dataclass

from extractor.list_page import is_headline
from extractor.methods.contract import Body
from extractor.page.document import Document
from extractor.page.markup_hints import Hint
from extractor.types.inclusive import apart_lines, readable_beside

SENTENCE = 15.0  # shortest line that is a sentence
HINTS = (Hint.HIDDEN, Hint.ASIDE, Hint.AFTER)  # of what is left out for good, unless it is most of the page
TAGS = ("footer", "nav", "aside")
NEAR = 3  # lines below a headline in which its teaser stands


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Sizes, in Chinese characters: of the body, of the readable text, of that in the body, and of sentences and links
    that were left out (links of navigation apart).
    """

    body: float
    readable: float
    kept: float
    sentences: float
    links: float = 0.0

    @property
    def share(self) -> float:
        """Of the readable text, what stands in the body, 0 to 1."""
        return self.kept / self.readable if self.readable else 1.0


def left_out_of(document: Document, body: Body | None) -> LeftOut:
    """What a body leaves out; `document` is the page with all lines."""
    lines = document.layout.lines
    kept = set(body.text.split("\n")) if body is not None else set()
    size = sum(line.size for line in lines if line.text in kept)
    readable = inside = sentences = links = 0.0
    headline = -NEAR - 1
    hidden = hidden_lines(document)
    seen: set[str] = set()
    apart = apart_lines(document.layout)
    for index, (line, is_text) in enumerate(zip(lines, readable_beside(document, apart), strict=True)):
        if is_headline(line):
            headline = index
        if line.text in seen:
            continue
        if not is_text:
            links += 0.0 if apart[index] or line.text in kept else min(line.link_size, line.size)
            continue
        seen.add(line.text)
        readable += line.size
        if line.text in kept:
            inside += line.size
        elif line.size >= SENTENCE and line.punctuated and not hidden[index] and index - headline > NEAR:
            sentences += line.size
    return LeftOut(size, readable, inside, sentences, links)


def hidden_lines(document: Document) -> list[bool]:
    """Which lines stand in elements that are hidden, comments, or called no part of the text."""
    layout = document.layout
    hidden = [False] * len(layout.lines)
    for span in layout.spans:
        if span.facts.tag in TAGS or (span.facts.hint in HINTS and 2 * (span.end - span.start) < len(hidden)):
            hidden[span.start : span.end] = [True] * (span.end - span.start)
    return hidden
