"""Counting piece by piece, on whichever machine: what is given away, and the tables that come back.

A piece is some documents. Its tables have words of their own, which who takes them in numbers as its memory does.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from docstore.errors import LexiconError
from lexicon.counting.counts_store import CountsStore
from lexicon.counting.ngram_table import Int32Array, Int64Array, NgramRows, NgramTable
from lexicon.counting.tokens import IDENTIFIER_WORD_ID
from lexicon.model.term_model import ModelByLanguage, SpanCounter, counting_digest, load_shipped_models

CHUNK_CHARACTERS = 100_000  # counted at a time: the spans of so much text are held at once
PIECE_CHARACTERS = 500_000  # given away at a time
MAX_RUN_ROWS = 400_000  # rows of a table in memory; about 250 bytes each
MAX_RUN_WORDS = 200_000  # words of its vocabulary; about 400 bytes each


def iter_chunks(texts: Iterable[tuple[int, str]], max_chars: int) -> Iterator[list[tuple[int, str]]]:
    """Number and text of whole documents, as many together as first have `max_chars` characters."""
    chunk: list[tuple[int, str]] = []
    size = 0
    for document_id, text in texts:
        chunk.append((document_id, text))
        size += len(text)
        if size >= max_chars:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


@dataclass(frozen=True)
class CountedPiece:
    """A table that was counted elsewhere: its `words`, how often each was written (`occurrences`), its `rows` by keys."""

    words: Sequence[str]
    occurrences: Int64Array
    rows: NgramRows


def count_piece(texts: Sequence[tuple[int, str]], expected_digest: str) -> list[CountedPiece]:
    """Number and text of whole documents, counted into as many tables as memory asks for, with the models that are
    shipped. LexiconError where they are not those of who asks, which `expected_digest` names."""
    models = load_shipped_models()
    if counting_digest(models) != expected_digest:
        raise LexiconError("a worker has another version of the program: install the same on all machines")
    pieces, counter = [], _thread_state.__dict__.pop("counter", None) or SpanCounter(models)
    for chunk in iter_chunks(texts, CHUNK_CHARACTERS):
        counter.add([text for _, text in chunk], np.array([document_id for document_id, _ in chunk], dtype=np.int64))
        if len(counter.table) > MAX_RUN_ROWS or counter.table.distinct_words > MAX_RUN_WORDS:
            pieces.append(build_piece(counter))
            counter = reset_counter(counter, models)
    pieces.append(build_piece(counter))
    _thread_state.counter = reset_counter(counter, models)
    return pieces


# What a thread has learnt of words: looking each up anew is a fifth of the work. A piece that fails takes it along.
_thread_state = threading.local()


def reset_counter(counter: SpanCounter, models: ModelByLanguage) -> SpanCounter:
    """One that has counted nothing, and still knows the words, unless they are too many."""
    if counter.table.distinct_words > MAX_RUN_WORDS:
        return SpanCounter(models)
    counter.table = NgramTable(counter.table.vocabulary)
    return counter


def build_piece(counter: SpanCounter) -> CountedPiece:
    """What was counted, to be sent; of the words only those that were read."""
    table = counter.table
    is_read = table.word_occurrences > 0
    is_read[: IDENTIFIER_WORD_ID + 1] = True  # these all vocabularies have
    read_words, rows = np.flatnonzero(is_read), table.rows()
    new_word_ids = np.full(len(is_read) + 1, -1, dtype=np.int32)  # the last one is that of -1, which is no word
    new_word_ids[read_words] = np.arange(len(read_words))
    words = [table.vocabulary.words[index] for index in read_words.tolist()]
    return CountedPiece(words, table.word_occurrences[read_words], replace(rows, word_ids=new_word_ids[rows.word_ids]))


class WordIdCache:
    """The numbers that the memory has given to words, those that were asked for lately without asking it again."""

    def __init__(self, counts_store: CountsStore) -> None:
        self._counts_store = counts_store
        self._ids: dict[str, int] = {}

    def ids_for(self, words: Sequence[str]) -> Int32Array:
        """The numbers of words, new ones for those that are new."""
        if len(self._ids) > MAX_RUN_WORDS:
            self._ids.clear()
        unknown_words = [word for word in words if word not in self._ids]
        self._ids.update(
            zip(unknown_words, self._counts_store.get_or_add_word_ids(unknown_words).tolist(), strict=True)
        )
        return np.fromiter(map(self._ids.__getitem__, words), dtype=np.int32, count=len(words))
