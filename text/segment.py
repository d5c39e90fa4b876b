"""Chinese segmentation with the words of a domain.

    RjiebaSegmenter([("页岩气", 0, "n"), ("PDC钻头", 0, "n")]).cut("页岩气钻井用PDC钻头")
        -> ["页岩气", "钻井", "用", "PDC钻头"]

The implementation is rjieba (jieba in Rust: same dictionary, HMM and user dictionary format). Purely Chinese words are
added to a separate jieba instance. `MixedTermMatcher` finds all other words before jieba runs. Words of other
scripts, and Latin words with accents, stay whole.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from text.folding import fold_width, word_key
from text.mixed_terms import MixedTermMatcher, term_keys
from text.scripts import ALPHABETIC, FOREIGN_LETTER

if TYPE_CHECKING:
    import rjieba

MAX_WORD_CHARS = 100
_FOREIGN_TAG = "eng"  # jieba's tag of Latin words
MAX_FREQUENCY = 1_000_000  # jieba's maximum is 883,634; the sum of its dictionary is 60 million

DictionaryWord = tuple[str, int, str]
"""A line of a jieba dictionary: word, frequency (0: choose it so that the word wins), tag."""

_HAN_WORD = re.compile("[\u4e00-\u9fd5]+")
# rjieba does not split `k-means` and `0.2mg`; jieba 0.42.1, the reference, does (finalseg, re_skip).
# Words that jieba splits into letters: those with a letter outside ASCII, and runs of katakana, hiragana and Hangul.
_KANA_HANGUL = ("\u30a0-\u30ff\u31f0-\u31ff", "\u3041-\u309f", "\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff")
_FOREIGN_WORD = re.compile(
    "|".join((f"(?<!{ALPHABETIC})[A-Za-z0-9]*+{FOREIGN_LETTER}{ALPHABETIC}*", *(f"[{part}]+" for part in _KANA_HANGUL)))
)
_FOREIGN_CHAR = re.compile(f"{FOREIGN_LETTER[:-1]}{''.join(_KANA_HANGUL)}]")
_JOINING_SIGN = re.compile(r"[-._+#&%]")
_LATIN_PIECE = re.compile(r"([a-zA-Z0-9]+(?:\.\d+)?%?)")
_NUMBER = re.compile(r"[.0-9]+%?")

_Piece = TypeVar("_Piece")


class Segmenter(Protocol):
    """Splits text into words. Deterministic. Never changes, drops or adds a character."""

    def cut(self, text: str) -> list[str]:
        """Return the words of `text`, with white space and punctuation: `"".join(cut(t)) == t` for every str."""

    def tag(self, text: str) -> list[tuple[str, str]]:
        """Return the words of `cut`, each with its POS tag in jieba's letters (`eng` Latin, `m` number, `x` other)."""


class RjiebaSegmenter:
    """rjieba with the words of one lexicon version. Immutable, so threads may share it. Pickled as its words.

    An instance with words costs about 0.1 s and 39 MB for its dictionary, and microseconds per word. Reuse it.
    Instances without words share one. Words with frequency 0 get a frequency at which they win over their parts. Of
    two overlapping words, the more likely split wins, as in jieba.

    Raises:
        ValueError: a word is empty or too long, or a frequency is outside 0 to `MAX_FREQUENCY`.
    """

    def __init__(self, words: Iterable[DictionaryWord] = ()) -> None:
        self._words = tuple(words)
        for word in self._words:
            _validate_word(word)
        # Short words first: the frequency of a long word depends on that of its parts.
        by_length = sorted(self._words, key=lambda word: (len(word[0]), word))
        han_words = [(fold_width(text), count, tag) for text, count, tag in by_length if _HAN_WORD.fullmatch(text)]
        self._jieba = self._load_dictionary(han_words)
        self._tag_by_han_word = {text: tag for text, _, tag in han_words}
        mixed_words = [(text, tag) for text, _, tag in self._words if not _HAN_WORD.fullmatch(text)]
        self._tag_by_mixed_key = {key: tag for text, tag in mixed_words for key in term_keys(text)}
        self._mixed_matcher = MixedTermMatcher(self._tag_by_mixed_key)

    def _load_dictionary(self, words: Sequence[DictionaryWord]) -> Any:
        dictionary = _create_jieba() if words else _shared_jieba()
        for text, frequency, tag in words:
            dictionary.add_word(text, frequency or None, tag)
        return dictionary

    def __reduce__(self) -> tuple[type["RjiebaSegmenter"], tuple[tuple[DictionaryWord, ...]]]:
        return (type(self), (self._words,))

    def cut(self, text: str) -> list[str]:
        folded_text = fold_width(text)
        words = self._split_around_mixed_terms(folded_text, self._cut_block, str)
        return words if folded_text is text else _restore_spelling(text, words)

    def tag(self, text: str) -> list[tuple[str, str]]:
        """Split a text into tagged words; see `Segmenter.tag`. A word of the lexicon has the lexicon's tag."""
        folded_text = fold_width(text)
        tagged_words = self._split_around_mixed_terms(
            folded_text, self._tag_block, lambda word: (word, self._tag_by_mixed_key.get(word_key(word), _FOREIGN_TAG))
        )
        if folded_text is text:
            return tagged_words
        words = _restore_spelling(text, [word for word, _ in tagged_words])
        return [(word, tag) for word, (_, tag) in zip(words, tagged_words, strict=True)]

    def has_word(self, word: str) -> bool:
        """True if the dictionary or the lexicon contains `word`. False for words that are only guessed."""
        return self._jieba.has_word(fold_width(word)) or word_key(word) in self._tag_by_mixed_key

    def _split_around_mixed_terms(
        self, text: str, cut_block: Callable[[str], list[_Piece]], make_term: Callable[[str], _Piece]
    ) -> list[_Piece]:
        """Apply `make_term` to each mixed term and foreign word, and `cut_block` to the text around them."""
        pieces: list[_Piece] = []
        block_start = 0
        for start, end in self._iter_whole_words(text):
            if start > block_start:
                pieces += cut_block(text[block_start:start])
            pieces.append(make_term(text[start:end]))
            block_start = end
        return pieces + cut_block(text[block_start:]) if block_start else cut_block(text)

    def _iter_whole_words(self, text: str) -> Iterator[tuple[int, int]]:
        """Iterate over the spans that jieba must not split. Terms of the lexicon win over foreign words."""
        start, has_foreign_words = 0, _FOREIGN_CHAR.search(text) is not None  # most texts have none
        for term_start, term_end in chain(self._mixed_matcher.iter_spans(text), [(len(text), len(text))]):
            if has_foreign_words:
                yield from (match.span() for match in _FOREIGN_WORD.finditer(text, start, term_start))
            if term_start < term_end:
                yield term_start, term_end
            start = term_end

    def _cut_block(self, text: str) -> list[str]:
        words: list[str] = self._jieba.cut(text)
        return _split_words_with_signs(text, words, map(len, words), self._split_latin)

    def _tag_block(self, text: str) -> list[tuple[str, str]]:
        tagged_words: list[tuple[str, str]] = self._jieba.tag(text)
        tagged_words = _split_words_with_signs(
            text, tagged_words, (len(word) for word, _ in tagged_words), self._split_tagged_latin
        )
        if not self._tag_by_han_word:
            return tagged_words
        return [(word, self._tag_by_han_word.get(word, tag)) for word, tag in tagged_words]

    def _split_latin(self, word: str) -> list[str]:
        if len(word) == 1 or _JOINING_SIGN.search(word) is None or self._jieba.has_word(word):
            return [word]
        return [piece for piece in _LATIN_PIECE.split(word) if piece]

    def _split_tagged_latin(self, tagged_word: tuple[str, str]) -> list[tuple[str, str]]:
        word, tag = tagged_word
        pieces = self._split_latin(word)
        return [(word, tag)] if len(pieces) == 1 else [(piece, _latin_tag(piece)) for piece in pieces]


@cache
def base_segmenter() -> RjiebaSegmenter:
    """Return the segmenter without a lexicon. One instance per process."""
    return RjiebaSegmenter()


def is_in_dictionary(word: str) -> bool:
    """True if `word` is in the base dictionary, not only guessed from its characters."""
    return bool(_shared_jieba().has_word(word))


def cut_by_dictionary(text: str) -> list[str]:
    """Split `text` by the dictionary only, without guessing new words: `"".join` of them is `fold_width(text)`.

    Unknown text is split into characters, so that the parts of new words can be counted.
    """
    words: list[str] = _shared_jieba().cut(fold_width(text), False)
    return words


def _create_jieba() -> "rjieba.Jieba":
    import rjieba  # import on demand: loading its dictionary takes 0.2 s

    return rjieba.Jieba()


_shared_jieba = cache(_create_jieba)


def _split_words_with_signs(
    text: str, words: list[_Piece], lengths: Iterable[int], split_word: Callable[[_Piece], list[_Piece]]
) -> list[_Piece]:
    """Split the words of `text` that contain a joining sign.

    They are few, so they are found by the offsets of the signs.
    """
    sign_offsets = [match.start() for match in _JOINING_SIGN.finditer(text)]
    if not sign_offsets:
        return words
    ends = list(accumulate(lengths))
    pieces: list[_Piece] = []
    next_index = 0
    for word_index in sorted({bisect_right(ends, offset) for offset in sign_offsets}):
        pieces += words[next_index:word_index]
        pieces += split_word(words[word_index])
        next_index = word_index + 1
    return pieces + words[next_index:]


def _validate_word(word: DictionaryWord) -> None:
    text, frequency, _ = word
    if not text.strip() or len(text) > MAX_WORD_CHARS:
        raise ValueError(f"a word must have 1 to {MAX_WORD_CHARS} characters: {text[:80]!r}")
    if not 0 <= frequency <= MAX_FREQUENCY:
        raise ValueError(f"a frequency must be 0 to {MAX_FREQUENCY}: {text!r} has {frequency}")


def _latin_tag(piece: str) -> str:
    if _NUMBER.fullmatch(piece):
        return "m"
    return "eng" if piece[0].isalnum() else "x"


def _restore_spelling(text: str, words: list[str]) -> list[str]:
    """Return the words of a folded text in the spelling of `text`. The lengths are equal."""
    restored_words, start = [], 0
    for word in words:
        restored_words.append(text[start : start + len(word)])
        start += len(word)
    return restored_words
