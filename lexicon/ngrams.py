"""The table of all spans counted so far: one row a distinct span, columns that add up over texts, days and machines.

key (hash)   words (numbers)    COUNTS                                likeliest   seen_in
8f3a…        PDC 钻头           frequency 12, documents 7, ...        -13         3, 9, 14
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from docstore.errors import LexiconError
from lexicon.occurrences import BUCKETS, JUDGED, MOST_WORDS, Occurrences, expected
from lexicon.tokens import Hashes, Tokens, Vocabulary

Ints = NDArray[np.int32]

SIDES = tuple(f"{side} {kind}" for side in ("left", "right") for kind in (*range(BUCKETS), "break"))
COUNTS = ("frequency", "documents", "in English", *JUDGED, *SIDES)
AT = {name: number for number, name in enumerate(COUNTS)}
MOST_KEPT = 2_000_000  # rows held before the rarest are forgotten; about 190 bytes each, twice that while they merge
SEEN = 3  # documents remembered for each row
FORMAT = 1


@dataclass(frozen=True)
class Rows:
    """Rows in the order of their keys: `keys` (n), `counts` (n, COUNTS), `words` (n, MOST_WORDS) padded with -1,
    `likeliest` (n) the best log-probability seen, `expected` (n) the sum of the probabilities,
    `seen_in` (n, SEEN) the first documents, padded with -1.
    """

    keys: Hashes
    counts: Ints
    words: Ints
    likeliest: Ints
    expected: NDArray[np.int64]
    seen_in: Ints

    def __len__(self) -> int:
        return len(self.keys)

    def take(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> "Rows":
        """Some of the rows."""
        return Rows(*(column[which] for column in vars(self).values()))


class NgramTable:
    """Counts spans chunk by chunk. What is new goes into a run of its own; runs are joined when they are of like size.

    `documents` is the number of documents counted, `spellings` how often each word of the vocabulary was written.
    """

    def __init__(self, most_kept: int = MOST_KEPT) -> None:
        self.vocabulary = Vocabulary()
        self.documents = 0
        self._spellings = np.zeros(0, dtype=np.int64)
        self._runs: list[Rows] = []
        self._most_kept = most_kept

    def add(self, tokens: Tokens, found: Occurrences) -> None:
        """Count the spans `found` in `tokens`, which are numbered by this table's vocabulary."""
        self._count_spellings(np.bincount(tokens.ids))
        if len(found.keys):
            self._append(counted(tokens, found))

    def add_table(self, other: "NgramTable") -> None:
        """Add what another table has counted; its documents come after ours and are numbered on."""
        numbers = np.array([*self.vocabulary.numbers(other.vocabulary.words), -1], dtype=np.int32)
        self._count_spellings(np.bincount(numbers[: len(other.spellings)], other.spellings).astype(np.int64))
        rows = other.rows()
        seen_in = np.where(rows.seen_in < 0, -1, rows.seen_in + self.documents).astype(np.int32)
        own = rows.take(np.arange(len(rows)))  # a copy: ours are added to in place
        self._append(replace(own, words=numbers[rows.words], seen_in=seen_in))
        self.documents += other.documents

    def rows(self) -> Rows:
        """All rows."""
        while len(self._runs) > 1:
            self._runs[-2:] = [joined(*self._runs[-2:])]
        return self._runs[0] if self._runs else NO_ROWS

    @property
    def spellings(self) -> NDArray[np.int64]:
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
                version, table.documents = map(int, saved["about"])
                if version != FORMAT:
                    raise LexiconError(f"{path}: counts of format {version}, not {FORMAT}")
                table.vocabulary.numbers(json.loads(saved["words_json"].tobytes()))
                table._count_spellings(saved["spellings"])
                table._append(Rows(**{name: saved[name] for name in Rows.__dataclass_fields__}))
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise LexiconError(f"{path}: no table of counts: {error}") from error
        return table

    def _count_spellings(self, more: NDArray[np.int64]) -> None:
        size = max(len(more), len(self._spellings))
        self._spellings = np.pad(self._spellings, (0, size - len(self._spellings))) + np.pad(
            more, (0, size - len(more))
        )

    def _append(self, rows: Rows) -> None:
        for run in self._runs:
            rows = absorbed(run, rows)
        if not len(rows):
            return
        self._runs.append(rows)
        while len(self._runs) > 1 and (self._is_full() or len(self._runs[-2]) < len(self._runs[-1])):
            self._runs[-2:] = [joined(*self._runs[-2:])]
        if self._is_full():
            self._runs = [self._remembered(self._runs[0])]

    def _is_full(self) -> bool:
        return sum(map(len, self._runs)) > self._most_kept

    def _remembered(self, rows: Rows) -> Rows:
        """Bound the memory: the rarest rows go, the least likely first among equals. They may lose counts so."""
        worth = rows.counts[:, AT["frequency"]].astype(np.int64) * 4096 + rows.likeliest.clip(-4000, 0)
        kept = self._most_kept // 2
        return rows.take(np.sort(np.argpartition(worth, -kept)[-kept:]))


NO_ROWS = Rows(
    np.zeros(0, np.uint64),
    np.zeros((0, len(COUNTS)), np.int32),
    np.zeros((0, MOST_WORDS), np.int32),
    np.zeros(0, np.int32),
    np.zeros(0, np.int64),
    np.zeros((0, SEEN), np.int32),
)


def counted(tokens: Tokens, found: Occurrences) -> Rows:
    """The rows of the spans of one chunk of text."""
    order = np.argsort(found.keys, kind="stable")
    keys = found.keys[order]
    new = np.concatenate([[True], keys[1:] != keys[:-1]])
    first, group = np.flatnonzero(new), np.cumsum(new) - 1
    documents = tokens.documents[found.starts[order]]
    turn = new | np.concatenate([[True], documents[1:] != documents[:-1]])
    counts = np.zeros((len(first), len(COUNTS)), dtype=np.int32)
    counts[:, 0] = np.diff(np.append(first, len(keys)))
    counts[:, 1] = np.add.reduceat(turn, first, dtype=np.int32)
    counts[:, 2] = counts[:, 0] if tokens.language == "en" else 0
    for number, column in enumerate(found.judged, start=3):
        counts[:, number] = np.add.reduceat(column[order], first)
    at = 3 + len(found.judged)
    for side in found.sides:
        kinds = np.bincount(group * (BUCKETS + 1) + side[order], minlength=len(first) * (BUCKETS + 1))
        counts[:, at : at + BUCKETS + 1] = kinds.reshape(len(first), -1)
        at += BUCKETS + 1
    likely = found.judged[JUDGED.index("likely")][order]
    likeliest, chance = np.maximum.reduceat(likely, first), np.add.reduceat(expected(likely), first)
    examples = order[first]
    words = _words(tokens, found.starts[examples], found.sizes[examples])
    return Rows(keys[first], counts, words, likeliest, chance, _first_documents(documents, turn, group, len(first)))


def absorbed(into: Rows, rows: Rows) -> Rows:
    """Add the counts of `rows` to those rows of `into`, in place, that have the same keys; gives back the others."""
    spot = np.minimum(np.searchsorted(into.keys, rows.keys), len(into) - 1)
    same = into.keys[spot] == rows.keys
    known, again = spot[same], rows.take(same)
    into.counts[known] += again.counts
    into.expected[known] += again.expected
    into.likeliest[known] = np.maximum(into.likeliest[known], again.likeliest)
    seen = np.concatenate([into.seen_in[known], again.seen_in], axis=1)
    open_places = np.flatnonzero(into.seen_in[known, -1] < 0)
    filled_first = np.argsort(seen[open_places] < 0, axis=1, kind="stable")[:, :SEEN]
    into.seen_in[known[open_places]] = np.take_along_axis(seen[open_places], filled_first, axis=1)
    return rows.take(~same)


def joined(one: Rows, other: Rows) -> Rows:
    """Two tables that have no key in common, in one."""
    order = np.argsort(np.concatenate([one.keys, other.keys]))
    return Rows(*(np.concatenate(pair)[order] for pair in zip(vars(one).values(), vars(other).values(), strict=True)))


def _words(tokens: Tokens, starts: Ints, sizes: Ints) -> Ints:
    words = np.full((len(starts), MOST_WORDS), -1, dtype=np.int32)
    for place in range(MOST_WORDS):
        here = np.flatnonzero(sizes > place)
        words[here, place] = tokens.ids[starts[here] + place]
    return words


def _first_documents(documents: Ints, turn: NDArray[np.bool_], group: NDArray[np.int64], count: int) -> Ints:
    seen = np.full((count, SEEN), -1, dtype=np.int32)
    turns = np.flatnonzero(turn)
    groups = group[turns]
    rank = np.arange(len(turns)) - np.searchsorted(groups, groups)
    few = rank < SEEN
    seen[groups[few], rank[few]] = documents[turns[few]]
    return seen


def total(tables: Iterable[NgramTable]) -> NgramTable:
    """The sum of some tables, in their order."""
    result = NgramTable()
    for table in tables:
        result.add_table(table)
    return result
