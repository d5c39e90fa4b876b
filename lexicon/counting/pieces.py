"""Counting piece by piece, on whichever machine: what is given away, and the tables that come back.

A piece is some documents. Its tables have words of their own, which who takes them in numbers as its memory does.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from docstore.errors import LexiconError
from lexicon.counting.ngrams import Ints, Longs, NgramTable, Rows
from lexicon.counting.remembered import Remembered
from lexicon.counting.tokens import NAME_NUMBER
from lexicon.model.learned import Models, TermCounter, model_digest, shipped_models

CHUNK_CHARACTERS = 100_000  # counted at a time: the spans of so much text are held at once
PIECE_CHARACTERS = 500_000  # given away at a time
RUN_ROWS = 400_000  # rows of a table in memory; about 250 bytes each
RUN_WORDS = 200_000  # words of its vocabulary; about 400 bytes each


def chunks(texts: Iterable[tuple[int, str]], most: int) -> Iterator[list[tuple[int, str]]]:
    """Number and text of whole documents, as many together as first have `most` characters."""
    chunk: list[tuple[int, str]] = []
    size = 0
    for number, text in texts:
        chunk.append((number, text))
        size += len(text)
        if size >= most:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


@dataclass(frozen=True)
class CountedPiece:
    """A table that was counted elsewhere: its `words`, how often each was written (`times`), its `rows` by keys."""

    words: Sequence[str]
    times: Longs
    rows: Rows


def count_piece(texts: Sequence[tuple[int, str]], counting: str) -> list[CountedPiece]:
    """Number and text of whole documents, counted into as many tables as memory asks for, with the models that are
    shipped. LexiconError where they are not those of who asks, which `counting` names."""
    models = shipped_models()
    if model_digest(models) != counting:
        raise LexiconError("a worker has another version of the program: install the same on all machines")
    found, counter = [], _kept_counter.__dict__.pop("counter", None) or TermCounter(models)
    for chunk in chunks(texts, CHUNK_CHARACTERS):
        counter.add([text for _, text in chunk], np.array([number for number, _ in chunk], dtype=np.int64))
        if len(counter.table) > RUN_ROWS or counter.table.words_known > RUN_WORDS:
            found.append(piece_of(counter))
            counter = emptied(counter, models)
    found.append(piece_of(counter))
    _kept_counter.counter = emptied(counter, models)
    return found


# What a thread has learnt of words: looking each up anew is a fifth of the work. A piece that fails takes it along.
_kept_counter = threading.local()


def emptied(counter: TermCounter, models: Models) -> TermCounter:
    """One that has counted nothing, and still knows the words, unless they are too many."""
    if counter.table.words_known > RUN_WORDS:
        return TermCounter(models)
    counter.table = NgramTable(counter.table.vocabulary)
    return counter


def piece_of(counter: TermCounter) -> CountedPiece:
    """What was counted, to be sent; of the words only those that were read."""
    table = counter.table
    is_read = table.spellings > 0
    is_read[: NAME_NUMBER + 1] = True  # these all vocabularies have
    read, rows = np.flatnonzero(is_read), table.rows()
    places = np.full(len(is_read) + 1, -1, dtype=np.int32)  # the last one is that of -1, which is no word
    places[read] = np.arange(len(read))
    words = [table.vocabulary.words[number] for number in read.tolist()]
    return CountedPiece(words, table.spellings[read], replace(rows, words=places[rows.words]))


class KnownWords:
    """The numbers that the memory has given to words, those that were asked for lately without asking it again."""

    def __init__(self, memory: Remembered) -> None:
        self._memory = memory
        self._numbers: dict[str, int] = {}

    def numbers(self, words: Sequence[str]) -> Ints:
        """The numbers of words, new ones for those that are new."""
        if len(self._numbers) > RUN_WORDS:
            self._numbers.clear()
        new = [word for word in words if word not in self._numbers]
        self._numbers.update(zip(new, self._memory.number_words(new).tolist(), strict=True))
        return np.fromiter(map(self._numbers.__getitem__, words), dtype=np.int32, count=len(words))
