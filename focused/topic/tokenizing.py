"""The words of a page, as focused crawls compare them."""

import re
import sys

from crawler.focused_policy import BLOCK_TITLE, PageWords, WordBlock, Words, WordTokenizer
from docstore.topic import ExamplePage
from text.segment import Segmenter

_WORD_PATTERN = re.compile(r"\w(?:[\w+#. -]*[\w+#])?")  # a term of several words is one


def make_tokenizer(segmenter: Segmenter) -> WordTokenizer:
    """Words of two characters or more, a letter among them, lower case."""

    def tokenize(text: str) -> Words:
        words = (word.lower() for word in segmenter.cut(text))
        return tuple(sys.intern(word) for word in words if is_word(word))

    return tokenize


def is_word(word: str) -> bool:
    """Can it stand for something?"""
    return len(word) > 1 and _WORD_PATTERN.fullmatch(word) is not None and any(map(str.isalpha, word))


def tokenize_example(page: ExamplePage, tokenize: WordTokenizer) -> PageWords:
    """A page as words."""
    blocks = (WordBlock(kind, tokenize(text), weight) for kind, weight, text in page.blocks)
    title = tokenize(page.title)
    nonempty_blocks = tuple(block for block in blocks if block.words)
    return PageWords(
        page.url,
        title,
        tokenize(page.description),
        nonempty_blocks or ((WordBlock(BLOCK_TITLE, title),) if title else ()),
    )
