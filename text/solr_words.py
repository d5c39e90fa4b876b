"""Words as Solr takes them: of a document and of a query alike.

    ["鑽頭", "與", "井"] -> 钻头 | 与 | 井        (`|` is `WORD_SEPARATOR`)

Solr splits at the joint. Characters are simplified here, which takes Solr longer.
"""

from collections.abc import Iterable

from text.folding import fold_width

WORD_SEPARATOR = "\u200b"
"""Stands between two words, in no text that is shown."""


def join_words(words: Iterable[str]) -> str:
    """One text of `words`, simplified."""
    return fold_width(WORD_SEPARATOR.join(words))
