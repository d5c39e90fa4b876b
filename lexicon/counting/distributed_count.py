"""Distributed counting: work items for other machines and the tables they return.

A work item is a batch of documents. It returns tables with a local vocabulary; the coordinator maps their word ids to
the stored ids.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from domain.errors import LexiconError
from lexicon.arrays import Int64Array
from lexicon.counting.ngram_table import NgramRows, NgramTable
from lexicon.counting.tokens import IDENTIFIER_WORD_ID
from lexicon.model.term_model import ModelByLanguage, SpanCounter, counting_digest, load_shipped_models

CHUNK_CHARACTERS = 100_000  # text counted at a time; its spans are in memory
PIECE_CHARACTERS = 500_000  # text of a work item
MAX_RUN_ROWS = 400_000  # rows of a table in memory; about 250 bytes each
MAX_RUN_WORDS = 200_000  # words of a vocabulary in memory; about 400 bytes each


def iter_chunks(texts: Iterable[tuple[int, str]], max_chars: int) -> Iterator[list[tuple[int, str]]]:
    """Yield batches of whole documents (id and text). A batch ends once it has `max_chars` characters."""
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
    """A table counted elsewhere: its `words`, their `occurrences`, and its `rows` ordered by key."""

    words: Sequence[str]
    occurrences: Int64Array
    rows: NgramRows


def count_piece(texts: Sequence[tuple[int, str]], expected_digest: str) -> list[CountedPiece]:
    """Count documents with the shipped models, into as many tables as the memory limits require.

    Args:
        texts: id and text of whole documents.
        expected_digest: `counting_digest` of the coordinator.

    Raises:
        LexiconError: the worker's models have another digest.
    """
    models = load_shipped_models()
    if counting_digest(models) != expected_digest:
        raise LexiconError(
            "the worker's model digest differs from the coordinator's: install the same version on all machines"
        )
    pieces, counter = [], _thread_state.__dict__.pop("counter", None) or SpanCounter(models)
    for chunk in iter_chunks(texts, CHUNK_CHARACTERS):
        counter.add([text for _, text in chunk], np.array([document_id for document_id, _ in chunk], dtype=np.int64))
        if len(counter.table) > MAX_RUN_ROWS or len(counter.table.vocabulary) > MAX_RUN_WORDS:
            pieces.append(build_piece(counter))
            counter = reset_counter(counter, models)
    pieces.append(build_piece(counter))
    _thread_state.counter = reset_counter(counter, models)
    return pieces


# The counter of each thread, reused because its word features take a fifth of the time. A failed piece discards it.
_thread_state = threading.local()


def reset_counter(counter: SpanCounter, models: ModelByLanguage) -> SpanCounter:
    """Return an empty counter that reuses the known words, unless there are too many."""
    if len(counter.table.vocabulary) > MAX_RUN_WORDS:
        return SpanCounter(models)
    counter.table = NgramTable(counter.table.vocabulary)
    return counter


def build_piece(counter: SpanCounter) -> CountedPiece:
    """Return the counts of a counter with only the words that occurred."""
    table = counter.table
    is_read = table.word_occurrences > 0
    is_read[: IDENTIFIER_WORD_ID + 1] = True  # words of every vocabulary
    read_words, rows = np.flatnonzero(is_read), table.rows()
    new_word_ids = np.full(len(is_read) + 1, -1, dtype=np.int32)  # the last entry maps -1, no word
    new_word_ids[read_words] = np.arange(len(read_words))
    words = [table.vocabulary.words[index] for index in read_words.tolist()]
    return CountedPiece(words, table.word_occurrences[read_words], replace(rows, word_ids=new_word_ids[rows.word_ids]))
