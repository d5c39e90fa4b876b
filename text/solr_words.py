"""Convert words to the text that Solr indexes, for documents and queries.

    ["鑽頭", "與", "井"] -> 钻头 | 与 | 井        (`|` is `WORD_SEPARATOR`)

Solr splits at the separator. Characters are simplified here, because Solr is slower.
"""

from collections.abc import Iterable

from text.folding import fold_width

WORD_SEPARATOR = "\u200b"
"""Separates two words. It occurs in no displayed text."""


def join_words(words: Iterable[str]) -> str:
    """Join `words` to one text with simplified characters."""
    return fold_width(WORD_SEPARATOR.join(words))
