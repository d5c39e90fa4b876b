"""Pages as a focused crawl reads them: by the extractor's blocks, cut once by the words of lexicon and topic."""

import re
import sys
from collections.abc import Iterable

from crawler.focused_words import Cut
from crawler.strategies.focus import TITLE, PageWords, WordBlock, Words
from docstore.model import Lexicon, Outcome, Page
from docstore.topics import ExamplePage
from extractor.extract import ArticleExtractor
from extractor.tag_blocks import tag_blocks
from lexicon.dictionary import check_term
from semantics.segment import RjiebaSegmenter, Segmenter

_DESCRIPTIONS = ("description", "keywords")  # of Zhou: <title>, meta description, meta keywords
_WORD = re.compile(r"\w(?:[\w+#. -]*[\w+#])?")  # a term of several words is one
_MOST_TEXT = 200_000  # characters of a page that are looked at


def cut_by(segmenter: Segmenter) -> Cut:
    """Words of two characters or more, a letter among them, lower case."""

    def cut(text: str) -> Words:
        words = (word.lower() for word in segmenter.cut(text))
        return tuple(sys.intern(word) for word in words if is_word(word))

    return cut


def is_word(word: str) -> bool:
    """Can it stand for something?"""
    return len(word) > 1 and _WORD.fullmatch(word) is not None and any(map(str.isalpha, word))


def segmenter_of(lexicon: Lexicon, terms: Iterable[str]) -> Segmenter:
    """A segmenter that knows the words of the lexicon and the terms of a topic."""
    known = {entry.text for entry in lexicon.entries}
    fresh = dict.fromkeys(term for term in terms if term not in known and not check_term(term))
    return RjiebaSegmenter(
        [*((one.text, one.frequency, one.tag) for one in lexicon.entries), *((term, 0, "n") for term in fresh)]
    )


def example_of(page: Page) -> ExamplePage:
    """A page of the crawl, as `read_example` reads it."""
    return read_example(page.url, page.body, page.content_type, page.final_url)


def read_example(url: str, html: bytes, content_type: str = "", base: str = "") -> ExamplePage:
    """A page with the text of its title, its description and its blocks (WY-F1 to F5); nothing but its address where
    it cannot be read. `base` is where it was found, if elsewhere."""
    document = ArticleExtractor().document(html, base or url, content_type)
    if isinstance(document, Outcome):
        return ExamplePage(url)
    description = " ".join(document.metas.get(name, "") for name in _DESCRIPTIONS).strip()
    blocks: list[tuple[str, float, str]] = []
    left = _MOST_TEXT
    for block in tag_blocks(document):
        blocks.append((str(block.type), round(block.weight, 6), block.content[:left]))
        left -= len(block.content)
        if left <= 0:
            break
    return ExamplePage(url, document.title, description, tuple(blocks))


def words_of(page: ExamplePage, cut: Cut) -> PageWords:
    """A page as words."""
    blocks = (WordBlock(kind, cut(text), weight) for kind, weight, text in page.blocks)
    title = cut(page.title)
    shown = tuple(block for block in blocks if block.words)
    return PageWords(page.url, title, cut(page.description), shown or ((WordBlock(TITLE, title),) if title else ()))
