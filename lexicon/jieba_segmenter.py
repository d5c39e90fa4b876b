"""jieba itself as a segmenter: it verifies lexicon versions, and it tags for the paper's method (WD-A5).

jieba is ten times slower than rjieba, which segments the collection. It loads the lexicon as the exported dictionary.
"""

import io
from collections.abc import Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING

from domain.term import LexiconEntry
from lexicon.jieba_dictionary import format_dictionary
from text.segment import DictionaryWord, RjiebaSegmenter

if TYPE_CHECKING:
    import jieba
    import jieba.posseg


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
        frequencies, total = _base_frequencies()
        self._tokenizer = _create_tokenizer()
        self._tokenizer.FREQ, self._tokenizer.total, self._tokenizer.initialized = dict(frequencies), total, True
        self._tokenizer.load_userdict(io.StringIO(format_dictionary(LexiconEntry(*word) for word in words)))

    @cached_property
    def _tagger(self) -> "jieba.posseg.POSTokenizer":
        import jieba.posseg  # import on demand: it takes a second

        return jieba.posseg.POSTokenizer(self._tokenizer)

    def cut(self, text: str) -> list[str]:
        words: list[str] = self._tokenizer.lcut(text)
        return words

    def tag(self, text: str) -> list[tuple[str, str]]:
        return [(pair.word, pair.flag) for pair in self._tagger.cut(text)]

    def has_word(self, word: str) -> bool:
        return bool(self._tokenizer.FREQ.get(word))


def _create_tokenizer() -> "jieba.Tokenizer":
    import jieba  # import on demand: it takes 0.1 s

    return jieba.Tokenizer()


@cache
def _base_frequencies() -> tuple[dict[str, int], int]:
    """Return jieba's own dictionary, once per process: frequencies by word and prefix of a word, and their sum.

    jieba itself would cache it in a file of the shared temporary folder, which others could replace.
    """
    tokenizer = _create_tokenizer()
    frequencies, total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    return frequencies, total
