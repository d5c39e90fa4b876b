"""Counting a corpus: of each day only what has changed since the last, in memory that does not grow with the corpus.

    digests, those before -> changes -> old texts taken off, new ones counted: runs, as large as memory allows
    rows before, runs     -> added up, range by range of keys -> remembered again; those that may be terms

One range of keys is in memory at a time, whatever there is in all. A line that stands on many pages word by word is
counted once: its repetition says nothing of the words in it.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from docstore.batches import batched
from docstore.model import line_hash
from lexicon.c_value.candidates import readable
from lexicon.counting.corpus import Corpus
from lexicon.counting.ngrams import AT, NOWHERE, Longs, NgramTable, Rows, merged, negative
from lexicon.counting.pieces import (
    CHUNK_CHARACTERS,
    PIECE_CHARACTERS,
    RUN_ROWS,
    RUN_WORDS,
    CountedPiece,
    KnownWords,
    chunks,
    count_piece,
)
from lexicon.counting.prose import counted_text
from lexicon.counting.remembered import Remembered
from lexicon.counting.selecting import Selector, matter
from lexicon.counting.sorted_runs import Runs, ends_of
from lexicon.counting.tokens import Vocabulary
from lexicon.model.learned import Models, Selection, TermCounter, model_digest

RANGE_ROWS = 200_000  # of all rows, in one range of keys
ROWS_A_DOCUMENT = 250  # expected of new documents, to part the keys by
FORGET_FROM = 250_000  # rows of a corpus, from which on those that hardly matter are not remembered
BATCH_DOCUMENTS = 50_000  # counted from one generation of what is remembered to the next
READ_DOCUMENTS = 200  # at a time

Advance = Callable[[int], None]
Task = Callable[[str, int | None], AbstractContextManager[Advance]]
"""Begins a piece of work with a name and a number of steps; gives what tells that so many more are done."""


Spread = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""As `map`: gives work away piece by piece, and has the results in the order of the pieces."""


def no_task(name: str, steps: int | None = None) -> AbstractContextManager[Advance]:
    """Work that nobody watches."""
    return nullcontext(lambda steps: None)


def count_texts(texts: Iterable[str], models: Models) -> NgramTable:
    """The spans of all texts, counted in memory."""
    counter = TermCounter(models)
    for chunk in chunks(enumerate(texts), CHUNK_CHARACTERS):
        counter.add([readable(text) for _, text in chunk])
    return counter.table


def select(
    corpus: Corpus,
    models: Models,
    memory: Remembered,
    min_frequency: int,
    task: Task = no_task,
    spread: Spread | None = None,
) -> Selection:
    """The rows of a corpus that may be terms. What is remembered is not counted again; afterwards it is up to date.
    `spread` has pieces of it counted elsewhere.

    LexiconError or sqlite3.DatabaseError where the memory is damaged.
    """
    return _Day(corpus, models, memory, task, spread).select(min_frequency)


@dataclass(frozen=True)
class TextChange:
    """A document that is not what is remembered: its `digest` now (None: it is gone), and whether it `was` there."""

    number: int
    digest: str | None
    was: bool


def changes_between(before: Iterable[tuple[int, str]], now: Iterable[tuple[int, str]]) -> Iterator[TextChange]:
    """What has changed between two lists of numbers and digests, both by rising numbers."""
    old, new = iter(before), iter(now)
    left, right = next(old, None), next(new, None)
    while left or right:
        if right is None or (left is not None and left[0] < right[0]):
            assert left is not None
            yield TextChange(left[0], None, was=True)
            left = next(old, None)
        elif left is None or right[0] < left[0]:
            yield TextChange(*right, was=False)
            right = next(new, None)
        else:
            if left != right:
                yield TextChange(*right, was=True)
            left, right = next(old, None), next(new, None)


class WordNumbers:
    """The words of a vocabulary that grows, as the memory numbers them, and how often they were written."""

    def __init__(self, vocabulary: Vocabulary, memory: Remembered) -> None:
        self._vocabulary, self._memory = vocabulary, memory
        self._numbers = np.zeros(0, dtype=np.int32)
        self._times = np.zeros(0, dtype=np.int64)

    def rows_of(self, table: NgramTable, sign: int) -> Rows:
        """The rows of a table, or what takes them off; its words have their numbers in the memory."""
        new = self._vocabulary.words[len(self._numbers) :]
        self._numbers = np.append(self._numbers, self._memory.number_words(new))
        self._times = np.pad(self._times, (0, len(new))) + table.spellings
        rows = table.rows()
        rows = replace(rows, words=np.append(self._numbers, np.int32(-1))[rows.words])
        return rows if sign > 0 else negative(rows)

    def end(self, sign: int) -> None:
        """Let the memory know how often the words were written, or no more were."""
        written = np.flatnonzero(self._times)
        self._memory.count_words(self._numbers[written], sign * self._times[written])


class _Day:
    """Brings what is remembered up to date, and chooses from it."""

    def __init__(
        self, corpus: Corpus, models: Models, memory: Remembered, task: Task, spread: Spread | None = None
    ) -> None:
        self._corpus, self._models, self._memory, self._task = corpus, models, memory, task
        self._spread = spread

    def select(self, min_frequency: int) -> Selection:
        """All of the day."""
        left, documents = 0, self._memory.count()
        for change in self._changes():
            left += 1
            documents += (change.digest is not None) - change.was
        selector = Selector(self._models, frequency_needed(min_frequency, documents))
        with self._task("lexicon: count", left) as advance:
            for batch in batched(self._changes(), BATCH_DOCUMENTS):
                left -= len(batch)
                self._count(batch, advance, None if left else selector)
        if not selector.was_asked:
            for number in range(self._memory.ranges):
                selector.add(self._memory.rows(number), self._memory.has_forgotten)
        return selector.selection(self._memory)

    def _changes(self) -> Iterator[TextChange]:
        return changes_between(self._memory.documents(), self._corpus.digests())

    def _count(self, batch: Sequence[TextChange], advance: Advance, selector: Selector | None) -> None:
        """Take off what was counted of old texts, add what there is in new ones."""
        memory = self._memory
        gone = [change.number for change in batch if change.was]
        new = {change.number: change.digest for change in batch if change.digest is not None}
        with tempfile.TemporaryFile(dir=memory.folder) as file:
            runs = Runs(file, max(memory.ranges, ranges_for(ROWS_A_DOCUMENT * len(batch))))
            self._run(self._old_texts(gone), runs, -1)
            memory.drop(gone)
            self._run(self._new_texts(new, advance), runs, 1)
            self._add_up(runs, np.array(gone, dtype=np.int64), selector)
        advance(len(batch) - len(new))

    def _old_texts(self, gone: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Number and text of what is gone, but for lines that other documents have as well."""
        for batch in batched(gone, READ_DOCUMENTS):
            yield from self._lines_that(list(self._memory.texts(batch)), -1)

    def _new_texts(self, digests: Mapping[int, str], advance: Advance) -> Iterator[tuple[int, str]]:
        """Number and text of what is new, which is remembered on the way, but for lines that are known already."""
        for numbers in batched(sorted(digests), READ_DOCUMENTS):
            texts = [(document.number, plain(counted_text(document))) for document in self._corpus.read(numbers)]
            self._memory.keep((number, digests[number], text) for number, text in texts)
            yield from self._lines_that(texts, 1)
            advance(len(numbers))

    def _lines_that(self, texts: Sequence[tuple[int, str]], change: int) -> Iterator[tuple[int, str]]:
        """Texts, of which so many more (or less) documents have the lines, with those alone that come or go by that."""
        lines = [(number, dict.fromkeys(text.split("\n"))) for number, text in texts]
        hashes = {line: line_hash(line) for _, own in lines for line in own}
        documents = dict.fromkeys(hashes.values(), 0) | self._memory.lines(hashes.values())
        for number, own in lines:
            changed = []
            for line in own:
                before = documents[hashes[line]]
                documents[hashes[line]] = max(0, before + change)
                if not before or not documents[hashes[line]]:
                    changed.append(line)
            yield number, "\n".join(changed)
        self._memory.keep_lines(documents)

    def _run(self, texts: Iterable[tuple[int, str]], runs: Runs, sign: int) -> None:
        """Count texts into as many tables as memory asks for; `sign` is -1 to take them off."""
        if self._spread:
            count, known = partial(count_piece, counting=model_digest(self._models)), KnownWords(self._memory)
            for counted in self._spread(count, chunks(texts, PIECE_CHARACTERS)):
                self._take(counted, runs, sign, known)
            return
        counter = TermCounter(self._models)
        words = WordNumbers(counter.table.vocabulary, self._memory)
        for chunk in chunks(texts, CHUNK_CHARACTERS):
            counter.add([text for _, text in chunk], np.array([number for number, _ in chunk], dtype=np.int64))
            if len(counter.table) > RUN_ROWS:
                runs.add(words.rows_of(counter.table, sign))
                counter.table.clear()
            if counter.table.words_known > RUN_WORDS:
                runs.add(words.rows_of(counter.table, sign))
                words.end(sign)
                counter = TermCounter(self._models)
                words = WordNumbers(counter.table.vocabulary, self._memory)
        runs.add(words.rows_of(counter.table, sign))
        words.end(sign)

    def _take(self, counted: Sequence[CountedPiece], runs: Runs, sign: int, known: KnownWords) -> None:
        """Take in tables that were counted elsewhere: each with words of its own."""
        for piece in counted:
            numbers = np.append(known.numbers(piece.words), np.int32(-1))
            self._memory.count_words(numbers[:-1][piece.times > 0], sign * piece.times[piece.times > 0])
            rows = replace(piece.rows, words=numbers[piece.rows.words])
            runs.add(rows if sign > 0 else negative(rows))

    def _add_up(self, runs: Runs, gone: Longs, selector: Selector | None) -> None:
        """Write the next generation of rows."""
        memory, kept, total = self._memory, 0, self._memory.rows_kept + runs.rows_added
        forgets = memory.has_forgotten or total > FORGET_FROM
        ranges = max(1, memory.ranges, min(runs.ranges, ranges_for(total)))
        with self._task("lexicon: add up", ranges) as advance:
            for number, before in enumerate(_parted(memory, ranges)):
                rows = bounded(merged([without_documents(before, gone), *runs.read(number, ranges)]))
                rows = rows.take(matter(rows)) if forgets else rows
                if selector:
                    selector.add(rows, forgets)
                memory.write_rows(number, rows)
                kept += len(rows)
                advance(1)
        memory.commit(ranges, kept, forgets)


def plain(text: str) -> str:
    """`readable` text that every file can hold."""
    return readable(text).encode("utf-8", "replace").decode()


def frequency_needed(wanted: int, documents: int) -> int:
    """How often a term must occur at least: as often as is `wanted`, and in a large corpus once for each power of ten
    that it has, for the more text there is, the more words come together by chance.
    """
    return max(wanted, len(str(documents)) - 1)


def ranges_for(rows: int) -> int:
    """Into how many ranges so many rows are parted: a power of two."""
    return 1 << max(0, (rows // RANGE_ROWS).bit_length())


def _parted(memory: Remembered, ranges: int) -> Iterator[Rows]:
    """The remembered rows in so many ranges, as many as they are kept in or more."""
    kept_in = max(1, memory.ranges)
    for number in range(kept_in):
        rows = memory.rows(number)
        ends = ends_of(rows.keys, ranges)[ranges // kept_in * number :][: ranges // kept_in]
        yield from (rows.part(start, stop) for start, stop in zip([0, *ends[:-1]], ends, strict=True))


def without_documents(rows: Rows, gone: Longs) -> Rows:
    """Rows that were not seen in the documents `gone` (numbers that rise)."""
    if not len(gone):
        return rows
    place = np.minimum(np.searchsorted(gone, rows.seen_in), len(gone) - 1)
    return replace(rows, seen_in=np.where(gone[place] == rows.seen_in, NOWHERE, rows.seen_in))


def bounded(rows: Rows) -> Rows:
    """Rows of which each was seen in one document at least, and in no more than it was seen times: a line counts for
    the first of the documents that have it, so that taking off another line of that one may take off one too many.
    """
    counts, documents = rows.counts.copy(), AT["documents"]
    counts[documents] = np.clip(counts[documents], 1, rows.frequency)
    return replace(rows, counts=counts)
