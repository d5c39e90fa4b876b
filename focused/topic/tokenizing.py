"""Tokenization of pages for focused strategies."""

import re
import sys

from crawler.focused_policy import BLOCK_TITLE, PageWords, WordBlock, Words, WordTokenizer
from domain.topic import ExamplePage
from text.segment import Segmenter

_WORD_PATTERN = re.compile(r"\w(?:[\w+#. -]*[\w+#])?")  # matches terms of several words, too


def make_tokenizer(segmenter: Segmenter) -> WordTokenizer:
    """Return a tokenizer that yields the words of a text in lower case, without those that `is_word` excludes."""

    def tokenize(text: str) -> Words:
        words = (word.lower() for word in segmenter.cut(text))
        return tuple(sys.intern(word) for word in words if is_word(word))

    return tokenize


def is_word(word: str) -> bool:
    """Return True for a word of at least two characters, among them a letter."""
    return len(word) > 1 and _WORD_PATTERN.fullmatch(word) is not None and any(map(str.isalpha, word))


def tokenize_example(page: ExamplePage, tokenize: WordTokenizer) -> PageWords:
    """Return an example page as words. A page without text in its blocks gets its title as the only block."""
    blocks = (WordBlock(kind, tokenize(text), weight) for kind, weight, text in page.blocks)
    title = tokenize(page.title)
    nonempty_blocks = tuple(block for block in blocks if block.words)
    return PageWords(
        page.url,
        title,
        tokenize(page.description),
        nonempty_blocks or ((WordBlock(BLOCK_TITLE, title),) if title else ()),
    )
