"""Tokenization of text into arrays of word ids, the input of counting.

"用PDC 钻头。" -> 用 | PDC | 钻头 | 。     ids from a Vocabulary; a space is part of the Latin word after it
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexicon.arrays import Int32Array, Int64Array, UInt64Array
from lexicon.model.word_features import IDENTIFIER_PLACEHOLDER, WordFeatureTable
from text import scripts
from text.folding import fold_term
from text.scripts import is_unspaced
from text.segment import cut_by_dictionary

TOKENIZER_BATCH_CHARS = 100_000  # characters tokenized at a time
BREAK_TOKEN = "\n"  # noqa: S105 (the name of a setting, no secret)
DOCUMENT_END = "\ue000"  # separates documents; a private-use character that is removed from texts
_LATIN_TOKEN = re.compile(r"[^\W_]+(?:[-'’./&+#_][^\W_]+)*[+#]*|\n|[^\w\s]|[^\S\n]+|_")
_HAN = re.compile(f"[{scripts.HAN}]+")
_LETTERS = re.compile(r"[A-Za-z]+")
BLANK_KIND, HAN_KIND, LATIN_KIND, OTHER_KIND = range(4)  # kinds of words
IDENTIFIER_WORD_ID = 1  # id of IDENTIFIER_PLACEHOLDER in every vocabulary
MIN_LETTERS_PER_HAN = 20  # lines with more letters per Chinese character are English


class Vocabulary:
    """Assigns ids to words in order of appearance. Hashes of the folded spelling are equal in all vocabularies."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.features = WordFeatureTable(self.words)
        self._id_by_word = _IdByWord(self.words)
        self._hashes = np.zeros((0, 2), dtype=np.uint64)
        self._kinds = np.zeros(0, dtype=np.int8)
        for word in (BREAK_TOKEN, IDENTIFIER_PLACEHOLDER):
            self.get_or_add(word)

    def __len__(self) -> int:
        return len(self.words)

    def get_or_add(self, word: str) -> int:
        """Return the id of `word`; a new word gets the next id."""
        return self._id_by_word[word]

    def get_or_add_all(self, words: Sequence[str]) -> Int32Array:
        """Return the ids of words; -1 for DOCUMENT_END, which is not a word."""
        return np.fromiter(map(self._id_by_word.__getitem__, words), dtype=np.int32, count=len(words))

    @property
    def hashes(self) -> UInt64Array:
        """Two hashes per word, (words, 2) uint64.

        The first is the hash as the first word of a term, without leading space. The second is the hash as a later
        word.
        """
        hashed_count = len(self._hashes)
        if hashed_count < len(self.words):
            new_hashes = [word_hashes(word) for word in self.words[hashed_count:]]
            self._hashes = np.concatenate([self._hashes, np.array(new_hashes, dtype=np.uint64)])
        return self._hashes

    @property
    def kinds(self) -> NDArray[np.int8]:
        """BLANK_KIND, HAN_KIND, LATIN_KIND or OTHER_KIND of each word."""
        if new_kinds := [_word_kind(word) for word in self.words[len(self._kinds) :]]:
            self._kinds = np.concatenate([self._kinds, np.array(new_kinds, dtype=np.int8)])
        return self._kinds


class _IdByWord(dict[str, int]):
    def __init__(self, words: list[str]) -> None:
        super().__init__({DOCUMENT_END: -1})
        self._words = words

    def __missing__(self, word: str) -> int:
        word_id = self[word] = len(self._words)
        self._words.append(word)
        return word_id


def word_hashes(word: str) -> tuple[int, int]:
    """Return the hash of a word without its leading space, and with it."""
    full_hash = hash_word(word)
    return (hash_word(word.strip(" ") or word), full_hash) if word[0] == " " else (full_hash, full_hash)


def hash_word(word: str) -> int:
    """Return a 64-bit hash of the folded word, equal on every machine."""
    folded_word = word if is_unspaced(word) else fold_term(word)
    return int.from_bytes(hashlib.blake2b(folded_word.encode("utf-8", "replace"), digest_size=8).digest(), "little")


@dataclass(frozen=True)
class Tokens:
    """Words of documents of one language, with two breaks after each document.

    `word_ids` are ids in the vocabulary, `document_ids` the document of each word.
    """

    language: str
    word_ids: Int32Array
    document_ids: Int64Array


def detect_line_language(line: str) -> str:
    """Return `en` for a line with almost no Chinese characters, else `zh`."""
    if line.isascii():
        return "en" if _LETTERS.search(line) else "zh"
    han, letters = (sum(map(len, pattern.findall(line))) for pattern in (_HAN, _LETTERS))
    return "en" if letters > MIN_LETTERS_PER_HAN * han else "zh"


def split_by_language(texts: Sequence[str], documents: Int64Array) -> Iterator[tuple[str, list[str], Int64Array]]:
    """Yield for each language its texts with their document ids.

    A document with lines in both languages is in both parts.
    """
    parts: dict[str, tuple[list[str], list[int]]] = {}
    for text, document in zip(texts, documents.tolist(), strict=True):
        lines: dict[str, list[str]] = {}
        for line in text.split("\n"):
            lines.setdefault(detect_line_language(line), []).append(line)
        for language, language_lines in lines.items():
            language_texts, document_ids = parts.setdefault(language, ([], []))
            language_texts.append("\n".join(language_lines))
            document_ids.append(document)
    for language, (language_texts, document_ids) in sorted(parts.items()):
        yield language, language_texts, np.array(document_ids, dtype=np.int64)


def tokenize_texts(texts: Sequence[str], language: str, documents: Int64Array, vocabulary: Vocabulary) -> Tokens:
    """Tokenize normalized texts of one language. `documents` are the ids of the texts."""
    split_words = cut_by_dictionary if language == "zh" else _LATIN_TOKEN.findall
    ids = np.concatenate([vocabulary.get_or_add_all(split_words(piece)) for piece in _iter_batches(texts)])
    ends = np.flatnonzero(ids < 0)
    ids[ends] = 0
    return _merge_blanks(language, ids, np.repeat(documents, np.diff(ends + 2, prepend=0)), vocabulary)


def _iter_batches(texts: Sequence[str]) -> Iterator[str]:
    """Yield the texts joined in batches, with two breaks after each document.

    Single calls of the segmenter are slow, and all words at once need much memory. The breaks keep documents apart.
    """
    piece: list[str] = []
    size = 0
    for text in texts:
        piece.append(f"{text.replace(DOCUMENT_END, BREAK_TOKEN)}{DOCUMENT_END}{BREAK_TOKEN}")
        size += len(text)
        if size >= TOKENIZER_BATCH_CHARS:
            yield "".join(piece)
            piece, size = [], 0
    yield "".join(piece)


def _merge_blanks(language: str, ids: Int32Array, documents: Int64Array, vocabulary: Vocabulary) -> Tokens:
    """Remove spaces: between Latin words a space joins the later word, between Chinese words it becomes a break."""
    kinds = vocabulary.kinds[ids]
    is_word = kinds != BLANK_KIND
    blank = np.zeros(len(ids), dtype=bool)
    blank[1:] = ~is_word[:-1]
    ids, documents, kinds, blank = ids[is_word].copy(), documents[is_word], kinds[is_word], blank[is_word]
    previous_kind = np.concatenate([[OTHER_KIND], kinds[:-1]])
    latin = blank & (kinds == LATIN_KIND) & (previous_kind == LATIN_KIND)
    id_with_blank = {
        word_id: vocabulary.get_or_add(f" {vocabulary.words[word_id]}") for word_id in np.unique(ids[latin]).tolist()
    }
    if id_with_blank:
        table = np.arange(len(vocabulary), dtype=np.int32)
        table[list(id_with_blank)] = list(id_with_blank.values())
        ids[latin] = table[ids[latin]]
    break_positions = np.flatnonzero(blank & (kinds == HAN_KIND) & (previous_kind == HAN_KIND))
    return Tokens(
        language, np.insert(ids, break_positions, 0), np.insert(documents, break_positions, documents[break_positions])
    )


def _word_kind(word: str) -> int:
    if word.isspace() and "\n" not in word:
        return BLANK_KIND
    if is_unspaced(word):
        return HAN_KIND
    return LATIN_KIND if word.strip(" ")[:1].isalnum() else OTHER_KIND
