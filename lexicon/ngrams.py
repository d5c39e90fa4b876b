"""The table of all spans counted so far: one row a distinct span, columns that add up over texts, days and machines.

key (hash)   words (numbers)    COUNTS                          SUMS             likeliest   seen_in
8f3a…        PDC 钻头           frequency 12, documents 7, ...  begins 310, ...  -13         3, 9, 14
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from docstore.errors import LexiconError
from lexicon.keys import Hashes, KeyNumbers, Numbers, Places
from lexicon.occurrences import BUCKETS, JUDGED, MOST_WORDS, Occurrences, expected
from lexicon.tokens import Tokens, Vocabulary

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

SIDES = tuple(f"{side} {kind}" for side in ("left", "right") for kind in (*range(BUCKETS), "break"))
COUNTS = ("frequency", "documents", "in English", *SIDES)
SUMS = (*JUDGED, "expected")
AT = {name: number for names in (COUNTS, SUMS) for number, name in enumerate(names)}
MOST_KEPT = 2_000_000  # rows held before the rarest are forgotten; about 200 bytes each
SEEN = 3  # documents remembered for each row
FEWEST = 100_000  # rows that there is room for at first
NEVER = -32768  # less likely than anything
FORMAT = 2


@dataclass(frozen=True)
class Rows:
    """Some rows: their `keys`, `counts` (COUNTS, n), `sums` (SUMS, n), `words` (MOST_WORDS, n) padded with -1,
    `likeliest` (n) the best log-probability seen, `seen_in` (SEEN, n) the first documents, padded with -1.
    """

    keys: Hashes
    counts: Ints
    sums: Longs
    words: Ints
    likeliest: Ints
    seen_in: Ints

    def __len__(self) -> int:
        return len(self.keys)

    def take(self, which: Places) -> "Rows":
        """Some of the rows."""
        return Rows(*(np.take(column, which, axis=-1) for column in vars(self).values()))

    def part(self, start: int, stop: int) -> "Rows":
        """The rows from `start` to before `stop`, as a view."""
        return Rows(*(column[..., start:stop] for column in vars(self).values()))


class NgramTable:
    """Counts spans chunk by chunk. The order in which documents are counted does not matter, only their numbers.

    `documents` is the number of documents counted, `spellings` how often each word of the vocabulary was written.
    """

    def __init__(self, most_kept: int = MOST_KEPT) -> None:
        self.vocabulary = Vocabulary()
        self.documents = 0
        self._spellings = np.zeros(0, dtype=np.int64)
        self._numbers = KeyNumbers()
        self._columns = no_rows(0)  # with room for more; `keys` is not used, KeyNumbers has them
        self._most_kept = most_kept

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, tokens: Tokens, found: Occurrences) -> None:
        """Count the spans `found` in `tokens`, which are numbered by this table's vocabulary."""
        self._count_spellings(np.bincount(tokens.ids))
        numbers, new = self._numbers.numbers(found.keys)
        self._open(words_of(tokens, found.starts[new], found.sizes[new]))
        self._sum_up(numbers, found, tokens.language)
        self._see(numbers, tokens, found)
        self._forget()

    def add_table(self, other: "NgramTable") -> None:
        """Add what another table has counted; its documents come after ours and are numbered on."""
        translated = np.array([*self.vocabulary.numbers(other.vocabulary.words), -1], dtype=np.int32)
        self._count_spellings(np.bincount(translated[: len(other.spellings)], other.spellings).astype(np.int64))
        self._add_rows(replace(rows := other.rows(), words=translated[rows.words]))
        self.documents += other.documents
        self._forget()

    def rows(self, which: Places | None = None) -> Rows:
        """All rows, or those with the numbers `which`, in the order of their keys."""
        keys = self._numbers.keys if which is None else self._numbers.keys[which]
        order = np.argsort(keys)
        chosen = order if which is None else which[order]
        return replace(self._columns.take(chosen), keys=keys[order])

    def column(self, name: str) -> NDArray[np.int32] | NDArray[np.int64]:
        """One column of all rows in the order of their numbers: `likeliest` or one of COUNTS; not to be written to."""
        whole = self._columns.likeliest if name == "likeliest" else self._columns.counts[AT[name]]
        return whole[: len(self)]

    @property
    def keys(self) -> Hashes:
        """The keys of all rows in the order of their numbers."""
        return self._numbers.keys

    @property
    def spellings(self) -> Longs:
        """How often each word of the vocabulary was written."""
        missing = len(self.vocabulary) - len(self._spellings)
        return np.pad(self._spellings, (0, max(0, missing)))

    def save(self, path: Path) -> None:
        """Write everything to one file, in numpy's format; `load` reads it back."""
        words = np.frombuffer(json.dumps(self.vocabulary.words).encode(), dtype=np.uint8)
        about = np.array([FORMAT, self.documents], dtype=np.int64)
        with path.open("wb") as file:
            np.savez(file, about=about, words_json=words, spellings=self.spellings, **vars(self.rows()))

    @classmethod
    def load(cls, path: Path, most_kept: int = MOST_KEPT) -> "NgramTable":
        """The table in a file. LexiconError if it is none, or of another format."""
        table = cls(most_kept)
        try:
            with np.load(path, allow_pickle=False) as saved:
                version, documents = map(int, saved["about"])
                if version != FORMAT:
                    raise LexiconError(f"{path}: counts of format {version}, not {FORMAT}")
                table.vocabulary.numbers(json.loads(saved["words_json"].tobytes()))
                table._count_spellings(saved["spellings"])
                table._add_rows(Rows(**{field.name: saved[field.name] for field in fields(Rows)}))
                table.documents = documents
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise LexiconError(f"{path}: no table of counts: {error}") from error
        return table

    def _add_rows(self, rows: Rows) -> None:
        """Add rows of other documents, which are numbered from the number of ours on."""
        numbers, new = self._numbers.numbers(rows.keys)
        self._open(np.take(rows.words, new, axis=1))
        own = self._columns
        own.counts[:, numbers] += rows.counts
        own.sums[:, numbers] += rows.sums
        own.likeliest[numbers] = np.maximum(own.likeliest[numbers], rows.likeliest)
        seen_in = np.where(rows.seen_in < 0, -1, rows.seen_in + self.documents).astype(np.int32)
        own.seen_in[:, numbers] = earliest(own.seen_in[:, numbers], seen_in)

    def _open(self, words: Ints) -> None:
        """Make rows for the newest keys, whose words these are."""
        if len(self) > len(self._columns):
            self._columns = with_room(self._columns, self._next_room())
        new = slice(len(self) - words.shape[1], len(self))
        self._columns.counts[:, new] = self._columns.sums[:, new] = 0
        self._columns.words[:, new] = words
        self._columns.likeliest[new] = NEVER
        self._columns.seen_in[:, new] = -1

    def _next_room(self) -> int:
        """Little at first, then for all that is ever kept: to move memory is dear."""
        return next(room for room in (FEWEST, self._most_kept * 5 // 4, len(self) * 2) if room >= len(self))

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

    def _see(self, numbers: Numbers, tokens: Tokens, found: Occurrences) -> None:
        """Count the documents of each row, and remember the first ones."""
        order = ordered(numbers)
        rows, documents = numbers[order], tokens.documents[found.starts[order]]
        turns = np.flatnonzero(changes(rows) | changes(documents))
        rows, documents = rows[turns], documents[turns]
        np.add.at(self._columns.counts[AT["documents"]], rows, np.ones(len(rows), dtype=np.int32))
        first = np.flatnonzero(changes(rows))
        seen_in = first_documents(documents, first)
        known = np.take(self._columns.seen_in, rows[first], axis=1)
        open_ = np.flatnonzero((known[-1] < 0) | (known[-1] > seen_in[0]))
        self._columns.seen_in[:, rows[first[open_]]] = earliest(known[:, open_], seen_in[:, open_])
        # A row has the words of its first document.
        before = np.flatnonzero(known[0] > seen_in[0])
        places = order[turns[first[before]]]
        self._columns.words[:, rows[first[before]]] = words_of(tokens, found.starts[places], found.sizes[places])

    def _count_spellings(self, more: Longs) -> None:
        size = max(len(more), len(self._spellings))
        self._spellings = np.pad(self._spellings, (0, size - len(self._spellings))) + np.pad(
            more, (0, size - len(more))
        )

    def _forget(self) -> None:
        """Bound the memory: the rarest rows go, the least likely first among equals. They may lose counts so."""
        if len(self) <= self._most_kept:
            return
        worth = self.column("frequency").astype(np.int64) * 4096 + self.column("likeliest").clip(-4000, 0)
        half = self._most_kept // 2
        kept = np.sort(np.argpartition(worth, -half)[-half:])
        for column in vars(self._columns).values():
            column[..., :half] = np.take(column, kept, axis=-1)
        self._numbers.keep(kept)


def no_rows(room: int) -> Rows:
    """Memory for so many rows. Nothing is written to it, so it costs nothing until it is used."""
    return Rows(
        np.empty(room, np.uint64),
        np.empty((len(COUNTS), room), np.int32),
        np.empty((len(SUMS), room), np.int64),
        np.empty((MOST_WORDS, room), np.int32),
        np.empty(room, np.int32),
        np.empty((SEEN, room), np.int32),
    )


def with_room(rows: Rows, room: int) -> Rows:
    """`rows`, and room for more after them."""
    wide = no_rows(room)
    for old, new in zip(vars(rows).values(), vars(wide).values(), strict=True):
        new[..., : len(rows)] = old
    return wide


def joined(parts: Sequence[Rows]) -> Rows:
    """All rows of some tables, one after another."""
    columns = zip(*(vars(part).values() for part in parts), strict=True)
    return Rows(*(np.concatenate(column, axis=-1) for column in columns))


def words_of(tokens: Tokens, starts: Ints, sizes: Ints) -> Ints:
    """(MOST_WORDS, spans): the words of some spans, padded with -1."""
    words = np.full((MOST_WORDS, len(starts)), -1, dtype=np.int32)
    for place in range(MOST_WORDS):
        here = np.flatnonzero(sizes > place)
        words[place, here] = tokens.ids[starts[here] + place]
    return words


def first_documents(documents: Ints, first: Places) -> Ints:
    """(SEEN, groups): the first few `documents` of each group, where `first` is the place at which it begins."""
    sizes = np.diff(np.append(first, len(documents)))
    found = np.full((SEEN, len(first)), -1, dtype=np.int32)
    for place in range(SEEN):
        here = np.flatnonzero(sizes > place)
        found[place, here] = documents[first[here] + place]
    return found


def ordered(numbers: Numbers) -> Places:
    """What sorts `numbers`, equal ones in their order: by their lower and then their upper 16 bits, which is quick."""
    order = np.argsort(numbers.astype(np.uint16), kind="stable")
    return order[np.argsort((numbers >> 16).astype(np.uint16)[order], kind="stable")]


def changes(values: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Where a value is not that before it; the first is not."""
    return np.concatenate([np.ones(min(1, len(values)), np.bool_), values[1:] != values[:-1]])


def earliest(one: Ints, other: Ints) -> Ints:
    """(SEEN, n): the lowest SEEN numbers of both, -1 for none."""
    both = np.concatenate([one, other]).T.view(np.uint32)  # in which -1 is the greatest number
    found: Ints = np.ascontiguousarray(np.sort(both, axis=1)[:, :SEEN].T).view(np.int32)
    return found


def total(tables: Iterable[NgramTable]) -> NgramTable:
    """The sum of some tables, in their order."""
    result = NgramTable()
    for table in tables:
        result.add_table(table)
    return result
