"""jieba itself as a segmenter: it verifies lexicon versions, and it tags for the paper's method (WD-A5).

jieba is ten times slower than rjieba, which segments the collection. It loads the lexicon as the exported dictionary.
"""

import io
from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

from domain.term import LexiconEntry
from lexicon.jieba_dictionary import format_dictionary
from text.segment import DictionaryWord, RjiebaSegmenter


class JiebaSegmenter(RjiebaSegmenter):
    """Segments Chinese text with jieba. Terms with other characters are matched before, as in `RjiebaSegmenter`."""

    def _load_dictionary(self, words: Sequence[DictionaryWord]) -> "_JiebaDictionary":
        return _JiebaDictionary(words)


@cache
def base_jieba_segmenter() -> JiebaSegmenter:
    """Return jieba without a lexicon. One instance per process."""
    return JiebaSegmenter()


class _JiebaDictionary:
    """jieba with a user dictionary, with the methods of `rjieba.Jieba`."""

    def __init__(self, words: Sequence[DictionaryWord]) -> None:
        base = _base_tokenizer()
        self._tokenizer = type(base)()
        self._tokenizer.FREQ, self._tokenizer.total, self._tokenizer.initialized = dict(base.FREQ), base.total, True
        self._tokenizer.load_userdict(io.StringIO(format_dictionary(LexiconEntry(*word) for word in words)))

    @cached_property
    def _tagger(self) -> Any:
        import jieba.posseg  # import on demand: it takes a second

        return jieba.posseg.POSTokenizer(self._tokenizer)

    def cut(self, text: str) -> list[str]:
        words: list[str] = self._tokenizer.lcut(text)
        return words

    def tag(self, text: str) -> list[tuple[str, str]]:
        return [(pair.word, pair.flag) for pair in self._tagger.cut(text)]

    def has_word(self, word: str) -> bool:
        return bool(self._tokenizer.FREQ.get(word))


@cache
def _base_tokenizer() -> Any:
    """Return a tokenizer with jieba's own dictionary. One instance per process.

    jieba itself would cache the dictionary in a file of the shared temporary folder, which others could replace.
    """
    import jieba  # import on demand: with its dictionary, it takes a second

    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    return tokenizer
