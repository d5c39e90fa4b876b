"""What is remembered of a corpus from one day to the next, so that a day counts only what has changed.

    counts.db    documents   number, digest, the running text as it was counted (compressed)
                 lines       of these texts, by hash: on how many of the documents each stands
                 words       number, spelling, how often it was written
                 sentences   that show a term in a document
    rows-G-N.z   rows        of generation G, those whose keys fall into the N-th of equal ranges (packing.py)

Rows are sums over documents: of a document that changed or went, what was counted of its old text is taken off. A day
writes a new generation of all row files; that it counts is committed together with the day's documents and words, in
one transaction, so that a kill leaves the day before.
"""

import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from docstore.batches import batched
from lexicon.counting.ngrams import Ints, Longs, Rows, no_rows
from lexicon.counting.packing import read_rows, write_rows

ASKED = 500  # values in one statement
PAGE = 10_000  # documents listed at a time
TEXT_PACKING = (3, zlib.DEFLATED, 13, 6)  # for texts of a page: larger tables take longer to make than the packing
TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE documents (number INTEGER PRIMARY KEY, digest TEXT NOT NULL, text BLOB NOT NULL);
CREATE TABLE lines (line INTEGER PRIMARY KEY, documents INTEGER NOT NULL);
CREATE TABLE words (number INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE, times INTEGER NOT NULL);
CREATE TABLE sentences (key TEXT, document INTEGER, sentence TEXT NOT NULL, PRIMARY KEY (key, document)) WITHOUT ROWID;
CREATE INDEX sentences_by_document ON sentences (document);
"""


class Remembered:
    """The memory in a folder; `counting` names how was counted: what was counted otherwise is forgotten."""

    FILE = "counts.db"

    def __init__(self, folder: Path, counting: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._database = sqlite3.connect(folder / self.FILE)
        try:
            if self._about("counting") != counting:
                self._begin(counting)
        except sqlite3.DatabaseError:  # no tables, or no database
            self._begin(counting)
        self._tidy()

    def close(self) -> None:
        """Forget what was not committed."""
        self._database.close()

    # -- documents

    def documents(self) -> Iterator[tuple[int, str]]:
        """Number and digest of every document, by rising numbers; those that were passed may change meanwhile."""
        query = "SELECT number, digest FROM documents WHERE number > ? ORDER BY number LIMIT ?"
        last = -1
        while rows := self._database.execute(query, (last, PAGE)).fetchall():
            yield from rows
            last = rows[-1][0]

    def count(self) -> int:
        """How many documents there are."""
        return int(self._one("SELECT count(*) FROM documents") or 0)

    def texts(self, numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Number and counted text of these documents."""
        for batch in batched(numbers, ASKED):
            query = f"SELECT number, text FROM documents WHERE number IN ({_marks(batch)}) ORDER BY number"
            for number, text in self._database.execute(query, batch):
                yield number, zlib.decompress(text).decode()

    def keep(self, documents: Iterable[tuple[int, str, str]]) -> None:
        """Keep number, digest and counted text of documents."""
        rows = ((number, digest, _compressed(text)) for number, digest, text in documents)
        self._database.executemany("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", rows)

    def drop(self, numbers: Sequence[int]) -> None:
        """Forget documents."""
        for table, column in (("documents", "number"), ("sentences", "document")):
            self._database.executemany(f"DELETE FROM {table} WHERE {column} = ?", ((number,) for number in numbers))

    def sentences(self, keys: Sequence[str]) -> dict[tuple[str, int], str]:
        """The known sentences for terms, by `word_key` and document; "" where the document was found to have none."""
        found = {}
        for batch in batched(keys, ASKED):
            rows = self._database.execute(f"SELECT * FROM sentences WHERE key IN ({_marks(batch)})", batch)
            found.update({(key, document): sentence for key, document, sentence in rows})
        return found

    def keep_sentences(self, sentences: Mapping[tuple[str, int], str]) -> None:
        """Know just these from now on."""
        self._database.execute("DELETE FROM sentences")
        rows = ((*place, sentence) for place, sentence in sentences.items())
        self._database.executemany("INSERT INTO sentences VALUES (?, ?, ?)", rows)
        self._database.commit()

    # -- lines

    def lines(self, hashes: Collection[int]) -> dict[int, int]:
        """On how many documents lines stand, of those that stand on any."""
        found: dict[int, int] = {}
        for batch in batched(hashes, ASKED):
            found.update(self._database.execute(f"SELECT * FROM lines WHERE line IN ({_marks(batch)})", batch))
        return found

    def keep_lines(self, documents: Mapping[int, int]) -> None:
        """Know on how many documents lines stand from now on."""
        gone = [(line,) for line, times in documents.items() if not times]
        there = sorted((line, times) for line, times in documents.items() if times)
        self._database.executemany("DELETE FROM lines WHERE line = ?", gone)
        self._database.executemany("INSERT OR REPLACE INTO lines VALUES (?, ?)", there)

    # -- words

    def number_words(self, words: Sequence[str]) -> Ints:
        """The numbers of words, new ones for those that are new."""
        add = "INSERT OR IGNORE INTO words (word, times) VALUES (?, 0)"
        self._database.executemany(add, ((word,) for word in words))
        found = {word: number for number, word, _ in self._words("word", words)}
        return np.fromiter((found[word] for word in words), dtype=np.int32, count=len(words))

    def count_words(self, numbers: Ints, times: Longs) -> None:
        """The words with these numbers were written so many times more (or less)."""
        rows = zip(times.tolist(), numbers.tolist(), strict=True)
        self._database.executemany("UPDATE words SET times = times + ? WHERE number = ?", rows)

    def words(self, numbers: Sequence[int]) -> list[tuple[int, str, int]]:
        """Number, spelling and times of the words with these numbers."""
        return list(self._words("number", numbers))

    def spellings(self, words: Sequence[str]) -> list[tuple[int, str, int]]:
        """The same of those of `words` that are known."""
        return list(self._words("word", words))

    def words_read(self) -> tuple[int, int]:
        """How many words the documents have, and how many different ones."""
        read, known = self._database.execute("SELECT sum(times), count(*) FROM words WHERE times > 0").fetchone()
        return int(read or 0), int(known)

    # -- rows

    @property
    def ranges(self) -> int:
        """Into how many ranges of keys the rows are parted: a power of two, or 0 for no rows at all."""
        return int(self._about("ranges") or 0)

    @property
    def rows_kept(self) -> int:
        """How many rows there are."""
        return int(self._about("rows") or 0)

    @property
    def has_forgotten(self) -> bool:
        """Whether rows that hardly matter were left out once."""
        return self._about("forgotten") == "1"

    def rows(self, number: int) -> Rows:
        """Those in one range of keys. LexiconError if they cannot be read."""
        return read_rows(self._path(self._generation, number)) if self.ranges else no_rows(0)

    def write_rows(self, number: int, rows: Rows) -> None:
        """One range of the next generation."""
        write_rows(rows, self._path(self._generation + 1, number))

    def commit(self, ranges: int, rows: int, has_forgotten: bool) -> None:
        """From now on the next generation counts, of which all ranges were written; the last one is deleted."""
        before = [self._path(self._generation, number) for number in range(self.ranges)]
        said = {"generation": self._generation + 1, "ranges": ranges, "rows": rows, "forgotten": int(has_forgotten)}
        self._say(said)
        self._database.commit()
        for path in before:
            path.unlink(missing_ok=True)

    # -- inside

    def _begin(self, counting: str) -> None:
        """Forget everything."""
        self._database.close()
        for path in self.folder.iterdir():  # those of an older program too
            if path.is_file():
                path.unlink()
        self._database = sqlite3.connect(self.folder / self.FILE)
        self._database.executescript(TABLES)
        self._say({"counting": counting})
        self._database.commit()

    @property
    def _generation(self) -> int:
        return int(self._about("generation") or 0)

    def _path(self, generation: int, number: int) -> Path:
        return self.folder / f"rows-{generation}-{number}.z"

    def _about(self, name: str) -> str | None:
        return self._one("SELECT value FROM about WHERE name = ?", name)

    def _one(self, query: str, *values: object) -> str | None:
        row = self._database.execute(query, values).fetchone()
        return row[0] if row else None

    def _say(self, said: Mapping[str, object]) -> None:
        rows = [(name, str(value)) for name, value in said.items()]
        self._database.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", rows)

    def _words(self, column: str, values: Sequence[object]) -> Iterator[tuple[int, str, int]]:
        for batch in batched(values, ASKED):
            yield from self._database.execute(
                f"SELECT number, word, times FROM words WHERE {column} IN ({_marks(batch)})", batch
            )

    def _tidy(self) -> None:
        """Delete what a stopped run left: row files that no commit names."""
        known = {self._path(self._generation, number) for number in range(self.ranges)}
        for path in set(self.folder.glob("rows-*.z")) - known:
            path.unlink()


def _compressed(text: str) -> bytes:
    packing = zlib.compressobj(*TEXT_PACKING)
    return packing.compress(text.encode()) + packing.flush()


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))
