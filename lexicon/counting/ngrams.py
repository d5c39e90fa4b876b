"""The table of the spans counted so far: one row a distinct span, columns that add up over texts, days and machines.

key (hash)   words (numbers)    COUNTS                          SUMS             likeliest   seen_in
8f3a…        PDC 钻头           frequency 12, documents 7, ...  begins 310, ...  -13         3, 9, 14

What was counted apart is added by `merged`; what is counted no more is taken off by adding `negative` rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lexicon.counting.hashing import Hashes, KeyNumbers, Numbers, Places
from lexicon.counting.occurrences import BUCKETS, JUDGED, MAX_WORDS, Occurrences, expected
from lexicon.counting.tokens import Tokens, Vocabulary

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

SIDES = tuple(f"{side} {kind}" for side in ("left", "right") for kind in (*range(BUCKETS), "break"))
COUNTS = ("frequency", "documents", "in English", *SIDES)
SUMS = (*JUDGED, "expected")
AT = {name: number for names in (COUNTS, SUMS) for number, name in enumerate(names)}
SEEN = 3  # documents remembered for each row
ROOMS = [2**power * 50_000 for power in range(20)]  # rows that there is room for: to move them is dear, room is not
NEVER = -32768  # less likely than anything
NOWHERE = -1  # pads `seen_in`


@dataclass(frozen=True)
class Rows:
    """Some rows.

    `keys` (n) uint64: hashes of the folded words. `counts` (COUNTS, n) int32. `sums` (SUMS, n) int64: what was judged
    of the occurrences, in steps. `words` (MAX_WORDS, n) int32: numbers in a vocabulary, padded with -1. `likeliest`
    (n) int32: the best log-probability seen, in steps. `seen_in` (SEEN, n) int64: the first documents, padded with
    NOWHERE.
    """

    keys: Hashes
    counts: Ints
    sums: Longs
    words: Ints
    likeliest: Ints
    seen_in: Longs

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def frequency(self) -> Ints:
        """How often each span was seen."""
        frequency: Ints = self.counts[AT["frequency"]]
        return frequency

    @property
    def is_english(self) -> NDArray[np.bool_]:
        """Which spans stand in English lines for the most part."""
        found: NDArray[np.bool_] = self.counts[AT["in English"]] * 2 > self.frequency
        return found

    def take(self, which: Places | NDArray[np.bool_]) -> "Rows":
        """Some of the rows."""
        if which.dtype == np.bool_:
            which = np.flatnonzero(which)
        return Rows(*(np.take(column, which, axis=-1) for column in vars(self).values()))

    def part(self, start: int, stop: int) -> "Rows":
        """The rows from `start` to before `stop`, as a view."""
        return Rows(*(column[..., start:stop] for column in vars(self).values()))


class Counted(Protocol):
    """A corpus that was counted, as far as the words of some of its rows go."""

    @property
    def vocabulary(self) -> Vocabulary:
        """Words, by whose numbers rows name them."""

    @property
    def spellings(self) -> Longs:
        """How often each of them was written."""

    @property
    def words_read(self) -> int:
        """How many words the corpus has."""

    @property
    def words_known(self) -> int:
        """How many different ones."""

    @property
    def usual(self) -> Sequence[str]:
        """Each word of the vocabulary in the spelling most often seen; of two as frequent, that in small letters. A
        letter is as it is: `C/S`."""


class NgramTable:
    """Counts spans chunk by chunk. The order in which documents are counted does not matter, only their numbers.

    `documents` is the number of documents counted, `spellings` how often each word of the vocabulary was written.
    """

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        self._vocabulary = vocabulary or Vocabulary()
        self.documents = 0
        self._spellings = np.zeros(0, dtype=np.int64)
        self._numbers = KeyNumbers()
        self._columns = no_rows(0)  # with room for more; `keys` is not used, KeyNumbers has them

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def vocabulary(self) -> Vocabulary:
        """All words, numbered as they came."""
        return self._vocabulary

    def clear(self) -> None:
        """Count from nothing again; the words and the memory stay."""
        self.documents = 0
        self._spellings = np.zeros(0, dtype=np.int64)
        self._numbers = KeyNumbers()

    def add(self, parts: Sequence[tuple[Tokens, Occurrences]]) -> None:
        """Count spans in tokens, which are numbered by this table's vocabulary; all parts of a document at once."""
        spans = []
        done = 0
        for tokens, found in parts:
            self._count_spellings(np.bincount(tokens.ids))
            numbers, new = self._numbers.numbers(found.keys)
            self._open(words_of(tokens.ids, found.starts[new], found.sizes[new]))
            self._sum_up(numbers, found, tokens.language)
            spans.append((numbers, tokens.documents[found.starts], found.starts + done, found.sizes))
            done += len(tokens.ids)
        if spans:
            ids = np.concatenate([tokens.ids for tokens, _ in parts])
            self._see(ids, *map(np.concatenate, zip(*spans, strict=True)))

    def rows(self, which: Places | None = None) -> Rows:
        """All rows, or those with the numbers `which`, in the order of their keys."""
        keys = self._numbers.keys if which is None else self._numbers.keys[which]
        order = np.argsort(keys)
        chosen = order if which is None else which[order]
        return replace(self._columns.take(chosen), keys=keys[order])

    @property
    def spellings(self) -> Longs:
        """How often each word of the vocabulary was written."""
        missing = len(self.vocabulary) - len(self._spellings)
        return np.pad(self._spellings, (0, max(0, missing)))

    @property
    def words_read(self) -> int:
        """How many words were read in all."""
        return int(self._spellings.sum())

    @property
    def words_known(self) -> int:
        """How many different ones."""
        return len(self.vocabulary)

    @property
    def usual(self) -> list[str]:
        """See `Counted`."""
        hashes, words = self.vocabulary.hashes[:, 1], self.vocabulary.words
        place = np.empty(len(words), dtype=np.int64)
        place[sorted(range(len(words)), key=words.__getitem__, reverse=True)] = np.arange(len(words))
        order = np.lexsort((place, -self.spellings, hashes))
        new = np.flatnonzero(changes(hashes[order]))
        best = np.empty(len(hashes), dtype=np.int64)
        best[order] = order[np.repeat(new, np.diff(np.append(new, len(order))))]
        usual = [words[number] for number in best.tolist()]
        return [own if is_letter(own) else word for own, word in zip(words, usual, strict=True)]

    def _open(self, words: Ints) -> None:
        """Make rows for the newest keys, whose words these are."""
        if len(self) > len(self._columns):
            self._columns = with_room(self._columns, next(room for room in ROOMS if room >= len(self)))
        new = slice(len(self) - words.shape[1], len(self))
        self._columns.counts[:, new] = self._columns.sums[:, new] = 0
        self._columns.words[:, new] = words
        self._columns.likeliest[new] = NEVER
        self._columns.seen_in[:, new] = NOWHERE

    def _sum_up(self, numbers: Numbers, found: Occurrences, language: str) -> None:
        counts, room = self._columns.counts, len(self._columns)
        ones = np.ones(len(numbers), dtype=np.int32)  # an array: with a number `add.at` is twenty times as slow
        np.add.at(counts[AT["frequency"]], numbers, ones)
        if language == "en":
            np.add.at(counts[AT["in English"]], numbers, ones)
        for name, kinds in zip(("left 0", "right 0"), found.sides, strict=True):
            np.add.at(counts.reshape(-1), (kinds + AT[name]) * room + numbers, ones)
        for name, values in zip(JUDGED, found.judged, strict=True):
            np.add.at(self._columns.sums[AT[name]], numbers, values.astype(np.int64))
        likely = found.judged[JUDGED.index("likely")]
        np.add.at(self._columns.sums[AT["expected"]], numbers, expected(likely))
        np.maximum.at(self._columns.likeliest, numbers, likely)

    def _see(self, ids: Ints, numbers: Numbers, documents: Longs, starts: Ints, sizes: Ints) -> None:
        """Count the documents of each row, and remember the first ones; a row has the words of the very first."""
        order = np.argsort(documents, kind="stable")
        order = order[ordered(numbers[order])]
        rows, documents = numbers[order], documents[order]
        turns = np.flatnonzero(changes(rows) | changes(documents))
        rows, documents = rows[turns], documents[turns]
        np.add.at(self._columns.counts[AT["documents"]], rows, np.ones(len(rows), dtype=np.int32))
        first = np.flatnonzero(changes(rows))
        seen_in = first_documents(documents, first)
        known = np.take(self._columns.seen_in, rows[first], axis=1)
        self._columns.seen_in[:, rows[first]] = earliest(known, seen_in)
        before = np.flatnonzero(known[0].view(np.uint64) > seen_in[0].view(np.uint64))
        places = order[turns[first[before]]]
        self._columns.words[:, rows[first[before]]] = words_of(ids, starts[places], sizes[places])

    def _count_spellings(self, more: Longs) -> None:
        size = max(len(more), len(self._spellings))
        self._spellings = np.pad(self._spellings, (0, size - len(self._spellings))) + np.pad(
            more, (0, size - len(more))
        )


def is_letter(word: str) -> bool:
    """Whether a word is one letter, with or without a blank before it."""
    return len(word.lstrip(" ")) == 1


def negative(rows: Rows) -> Rows:
    """What takes these rows off again when it is added: nothing of it is likely, and it was seen nowhere."""
    likeliest, seen_in = np.full_like(rows.likeliest, NEVER), np.full_like(rows.seen_in, NOWHERE)
    return replace(rows, counts=-rows.counts, sums=-rows.sums, likeliest=likeliest, seen_in=seen_in)


def merged(parts: Sequence[Rows]) -> Rows:
    """The sum of some rows, in the order of their keys. A row has the words of the first part that has it; what was
    counted no more often than it was taken off is gone."""
    rows = joined(parts)
    order = np.argsort(rows.keys, kind="stable")
    first = np.flatnonzero(changes(rows.keys[order]))
    total = rows.take(order[first])
    size = np.diff(np.append(first, len(order)))
    several = np.flatnonzero(size > 1)
    if len(several):
        of_several = rows.take(order[np.repeat(size > 1, size)])
        begins = np.concatenate([[0], np.cumsum(size[several])[:-1]])
        total.counts[:, several] = np.add.reduceat(of_several.counts, begins, axis=1)
        total.sums[:, several] = np.add.reduceat(of_several.sums, begins, axis=1)
        total.likeliest[several] = np.maximum.reduceat(of_several.likeliest, begins)
        total.seen_in[:, several] = _earliest_of_groups(of_several.seen_in, begins)
    is_gone = total.frequency <= 0
    return total.take(~is_gone) if is_gone.any() else total


def _earliest_of_groups(seen_in: Longs, first: Places) -> Longs:
    """(SEEN, groups): the lowest SEEN numbers of each group of columns; `first` are the columns that begin one."""
    group = np.repeat(np.arange(len(first)), np.diff(np.append(first, seen_in.shape[1])))
    group, numbers = np.tile(group, SEEN), seen_in.ravel()
    known = numbers != NOWHERE
    group, numbers = group[known], numbers[known]
    order = np.lexsort((numbers, group))
    group, numbers = group[order], numbers[order]
    new = changes(group) | changes(numbers)
    group, numbers = group[new], numbers[new]
    begins = np.flatnonzero(changes(group))
    found = np.full((SEEN, len(first)), NOWHERE, dtype=np.int64)
    found[:, group[begins]] = first_documents(numbers, begins)
    return found


def no_rows(room: int) -> Rows:
    """Memory for so many rows. Nothing is written to it, so it costs nothing until it is used."""
    return Rows(
        np.empty(room, np.uint64),
        np.empty((len(COUNTS), room), np.int32),
        np.empty((len(SUMS), room), np.int64),
        np.empty((MAX_WORDS, room), np.int32),
        np.empty(room, np.int32),
        np.empty((SEEN, room), np.int64),
    )


def with_room(rows: Rows, room: int) -> Rows:
    """`rows`, and room for more after them."""
    wide = no_rows(room)
    for old, new in zip(vars(rows).values(), vars(wide).values(), strict=True):
        new[..., : len(rows)] = old
    return wide


def joined(parts: Sequence[Rows]) -> Rows:
    """All rows of some tables, one after another."""
    columns = zip(*(vars(part).values() for part in (no_rows(0), *parts)), strict=True)
    return Rows(*(np.concatenate(column, axis=-1) for column in columns))


def words_of(ids: Ints, starts: Ints, sizes: Ints) -> Ints:
    """(MAX_WORDS, spans): the words of some spans of `ids`, padded with -1."""
    words = np.full((MAX_WORDS, len(starts)), -1, dtype=np.int32)
    for place in range(MAX_WORDS):
        here = np.flatnonzero(sizes > place)
        words[place, here] = ids[starts[here] + place]
    return words


def first_documents(documents: Longs, first: Places) -> Longs:
    """(SEEN, groups): the first few `documents` of each group, where `first` is the place at which it begins."""
    sizes = np.diff(np.append(first, len(documents)))
    found = np.full((SEEN, len(first)), NOWHERE, dtype=np.int64)
    for place in range(SEEN):
        here = np.flatnonzero(sizes > place)
        found[place, here] = documents[first[here] + place]
    return found


def ordered(numbers: Numbers) -> Places:
    """What sorts `numbers`, equal ones in their order: by their lower and then their upper 16 bits, which is quick."""
    order = np.argsort(numbers.astype(np.uint16), kind="stable")
    return order[np.argsort((numbers >> 16).astype(np.uint16)[order], kind="stable")]


def changes(values: NDArray[np.integer] | Hashes) -> NDArray[np.bool_]:
    """Where a value is not that before it; the first is not."""
    return np.concatenate([np.ones(min(1, len(values)), np.bool_), values[1:] != values[:-1]])


def earliest(one: Longs, other: Longs) -> Longs:
    """(SEEN, n): the lowest SEEN numbers of both, which have none in common; NOWHERE for none."""
    both = np.concatenate([one, other]).T.view(np.uint64)  # in which -1 is the greatest number
    found: Longs = np.ascontiguousarray(np.sort(both, axis=1)[:, :SEEN].T).view(np.int64)
    return found
