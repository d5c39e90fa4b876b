"""The words of a page, as focused crawls compare them."""

import re
import sys

from crawler.guide import TITLE, Cut, PageWords, WordBlock, Words
from docstore.topics import ExamplePage
from text.segment import Segmenter

_WORD = re.compile(r"\w(?:[\w+#. -]*[\w+#])?")  # a term of several words is one


def cut_by(segmenter: Segmenter) -> Cut:
    """Words of two characters or more, a letter among them, lower case."""

    def cut(text: str) -> Words:
        words = (word.lower() for word in segmenter.cut(text))
        return tuple(sys.intern(word) for word in words if is_word(word))

    return cut


def is_word(word: str) -> bool:
    """Can it stand for something?"""
    return len(word) > 1 and _WORD.fullmatch(word) is not None and any(map(str.isalpha, word))


def words_of(page: ExamplePage, cut: Cut) -> PageWords:
    """A page as words."""
    blocks = (WordBlock(kind, cut(text), weight) for kind, weight, text in page.blocks)
    title = cut(page.title)
    shown = tuple(block for block in blocks if block.words)
    return PageWords(page.url, title, cut(page.description), shown or ((WordBlock(TITLE, title),) if title else ()))
