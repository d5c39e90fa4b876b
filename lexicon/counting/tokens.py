"""Text as arrays of word numbers: what the counting works on.

"用PDC 钻头。" -> 用 | PDC | 钻头 | 。     words numbered by a Vocabulary; a blank is part of the Latin word after it
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexicon.counting.hashing import Hashes
from lexicon.model.words import NAME, WordTable, is_han
from text import scripts
from text.folding import fold_term
from text.segment import cut_finely

Ids = NDArray[np.int32]
Numbers = NDArray[np.int64]

PIECE_CHARACTERS = 100_000  # cut at a time
BREAK = "\n"
END = "\ue000"  # of a document among others; a private character, which is taken out of texts
_LATIN = re.compile(r"[^\W_]+(?:[-'’./&+#_][^\W_]+)*[+#]*|\n|[^\w\s]|[^\S\n]+|_")
_HAN_CHAR = re.compile(f"[{scripts.HAN}]")
_LETTER = re.compile(r"[A-Za-z]")
BLANK, HAN, LATIN, OTHER = range(4)  # kinds of words
NAME_NUMBER = 1  # of NAME in every vocabulary
ENGLISH_SHARE = 20  # letters to a Chinese character from which on a text is read as English


class Vocabulary:
    """Numbers words as they come; a word's hash is that of its folded spelling, the same in every vocabulary."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.about = WordTable(self.words)
        self._numbers = _Numbers(self.words)
        self._hashes = np.zeros((0, 2), dtype=np.uint64)
        self._kinds = np.zeros(0, dtype=np.int8)
        for word in (BREAK, NAME):
            self.number(word)

    def __len__(self) -> int:
        return len(self.words)

    def number(self, word: str) -> int:
        """The number of `word`, a new one if it is new."""
        return self._numbers[word]

    def numbers(self, words: Sequence[str]) -> Ids:
        """The numbers of many words; -1 for END, which is none."""
        return np.fromiter(map(self._numbers.__getitem__, words), dtype=np.int32, count=len(words))

    @property
    def hashes(self) -> Hashes:
        """Two hashes a word: as the first of a term (a blank before it does not count), and as a later one."""
        done = len(self._hashes)
        if done < len(self.words):
            new = [hashes_of(word) for word in self.words[done:]]
            self._hashes = np.concatenate([self._hashes, np.array(new, dtype=np.uint64)])
        return self._hashes

    @property
    def kinds(self) -> NDArray[np.int8]:
        """BLANK, HAN, LATIN or OTHER for each word."""
        if new := [_kind(word) for word in self.words[len(self._kinds) :]]:
            self._kinds = np.concatenate([self._kinds, np.array(new, dtype=np.int8)])
        return self._kinds


class _Numbers(dict[str, int]):
    def __init__(self, words: list[str]) -> None:
        super().__init__({END: -1})
        self._words = words

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self._words)
        self._words.append(word)
        return number


def hashes_of(word: str) -> tuple[int, int]:
    """The hash of a word without the blank before it, and with it."""
    own = word_hash(word)
    return (word_hash(word.strip(" ") or word), own) if word[0] == " " else (own, own)


def word_hash(word: str) -> int:
    """64 bits of the folded word, the same on every machine."""
    folded = word if is_han(word) else fold_term(word)
    return int.from_bytes(hashlib.blake2b(folded.encode("utf-8", "replace"), digest_size=8).digest(), "little")


@dataclass(frozen=True)
class Tokens:
    """The words of some documents of one language, two breaks after each document.

    `ids` numbers in the vocabulary, `documents` the number of the document that each word is of.
    """

    language: str
    ids: Ids
    documents: Numbers


def language_of(line: str) -> str:
    """`en` for a line nearly without Chinese characters, else `zh`."""
    if line.isascii():
        return "en" if _LETTER.search(line) else "zh"
    han = len(_HAN_CHAR.findall(line))
    return "en" if len(_LETTER.findall(line)) > ENGLISH_SHARE * han else "zh"


def by_language(texts: Sequence[str], documents: Numbers) -> Iterator[tuple[str, list[str], Numbers]]:
    """For each language its part of `texts`, whose numbers are `documents`: a text of lines in two stands in both."""
    parts: dict[str, tuple[list[str], list[int]]] = {}
    for text, document in zip(texts, documents.tolist(), strict=True):
        lines: dict[str, list[str]] = {}
        for line in text.split("\n"):
            lines.setdefault(language_of(line), []).append(line)
        for language, own in lines.items():
            chosen, numbers = parts.setdefault(language, ([], []))
            chosen.append("\n".join(own))
            numbers.append(document)
    for language, (chosen, numbers) in sorted(parts.items()):
        yield language, chosen, np.array(numbers, dtype=np.int64)


def tokens_of(texts: Sequence[str], language: str, documents: Numbers, vocabulary: Vocabulary) -> Tokens:
    """The words of `texts` (`readable` text of one language), whose numbers are `documents`."""
    cut = cut_finely if language == "zh" else _LATIN.findall
    ids = np.concatenate([vocabulary.numbers(cut(piece)) for piece in _pieces(texts)])
    ends = np.flatnonzero(ids < 0)
    ids[ends] = 0
    return _without_blanks(language, ids, np.repeat(documents, np.diff(ends + 2, prepend=0)), vocabulary)


def _pieces(texts: Sequence[str]) -> Iterator[str]:
    """The texts, many in one: a call for each would take longer than its work, and the words of all at once much room.

    Two breaks after each document, so that no gap of one sees a word of another.
    """
    piece: list[str] = []
    size = 0
    for text in texts:
        piece.append(f"{text.replace(END, BREAK)}{END}{BREAK}")
        size += len(text)
        if size >= PIECE_CHARACTERS:
            yield "".join(piece)
            piece, size = [], 0
    yield "".join(piece)


def _without_blanks(language: str, ids: Ids, documents: Numbers, vocabulary: Vocabulary) -> Tokens:
    """Blanks taken out: one between Latin words becomes part of the later word, one between Chinese words a break."""
    kinds = vocabulary.kinds[ids]
    kept = kinds != BLANK
    blank = np.zeros(len(ids), dtype=bool)
    blank[1:] = ~kept[:-1]
    ids, documents, kinds, blank = ids[kept].copy(), documents[kept], kinds[kept], blank[kept]
    left = np.concatenate([[OTHER], kinds[:-1]])
    latin = blank & (kinds == LATIN) & (left == LATIN)
    spaced = {number: vocabulary.number(f" {vocabulary.words[number]}") for number in np.unique(ids[latin]).tolist()}
    if spaced:
        table = np.arange(len(vocabulary), dtype=np.int32)
        table[list(spaced)] = list(spaced.values())
        ids[latin] = table[ids[latin]]
    apart = np.flatnonzero(blank & (kinds == HAN) & (left == HAN))
    return Tokens(language, np.insert(ids, apart, 0), np.insert(documents, apart, documents[apart]))


def _kind(word: str) -> int:
    if word.isspace() and "\n" not in word:
        return BLANK
    if is_han(word):
        return HAN
    return LATIN if word.strip(" ")[:1].isalnum() else OTHER
