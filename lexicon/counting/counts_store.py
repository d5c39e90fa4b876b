"""Counts stored between runs, so that a run counts only changed documents.

    counts.db    documents   id, digest, and the running text as counted (compressed)
                 lines       hash of each line, and the number of documents that contain it
                 words       id, spelling, occurrences
                 sentences   example sentence of a term in a document
    rows-G-N.z   rows        generation G, N-th of equal key ranges (row_serialization.py)

Counts are additive: the old text of a changed or deleted document is subtracted. A run writes a new generation of all
row files and commits it together with documents and words in one SQLite transaction. A crash leaves the previous
generation intact.
"""

import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from domain.batches import batched
from domain.packed_text import pack_text, unpack_text
from lexicon.arrays import Int32Array, Int64Array
from lexicon.counting.count_files import delete_counts
from lexicon.counting.ngram_table import NgramRows, allocate_rows
from lexicon.counting.row_serialization import read_rows, write_rows

MAX_SQL_VALUES = 500  # values per statement
MAX_CACHED_WORDS = 200_000  # words whose ids are in memory
DOCUMENTS_PER_QUERY = 10_000
PAGE_BYTES = 16_384  # of the 4 kB pages that are the default, a text of 3 kB leaves a quarter empty
OLD_TEXT_PREFIX = b"X"  # of texts that older programs compressed, in UTF-8
SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE documents (number INTEGER PRIMARY KEY, digest TEXT NOT NULL, text BLOB NOT NULL);
CREATE TABLE lines (line INTEGER PRIMARY KEY, documents INTEGER NOT NULL);
CREATE TABLE words (number INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE, times INTEGER NOT NULL);
CREATE TABLE sentences (key TEXT, document INTEGER, sentence TEXT NOT NULL, PRIMARY KEY (key, document)) WITHOUT ROWID;
CREATE INDEX sentences_by_document ON sentences (document);
"""


class CountsStore:
    """Stored counts in a folder. Counts with another `counting_digest` (model and counting version) are discarded.

    Raises:
        sqlite3.OperationalError: the database is locked or cannot be read.
    """

    DATABASE_FILE = "counts.db"

    def __init__(self, folder: Path, counting_digest: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._id_by_word: dict[str, int] = {}
        self._database = sqlite3.connect(folder / self.DATABASE_FILE)
        try:
            is_current = self._read_metadata("counting") == counting_digest
        except sqlite3.DatabaseError as error:
            # SQLITE_ERROR: there are no tables. Other operational errors, such as a lock, say nothing about the counts.
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)  # text that is not UTF-8 has no code
            if isinstance(error, sqlite3.OperationalError) and code != sqlite3.SQLITE_ERROR:
                self._database.close()
                raise
            is_current = False
        if not is_current:
            self._database.close()
            delete_counts(folder)
            self._database = sqlite3.connect(folder / self.DATABASE_FILE)
            self._database.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            self._database.executescript(SCHEMA)
            self._write_metadata({"counting": counting_digest})
            self._database.commit()
        # Row files of interrupted runs, which no commit refers to.
        committed_paths = {self._rows_path(self._generation, index) for index in range(self.key_range_count)}
        for path in set(folder.glob("rows-*.z")) - committed_paths:
            path.unlink()

    def close(self) -> None:
        """Close the database. Uncommitted changes are lost."""
        self._database.close()

    # -- documents

    def iter_document_digests(self) -> Iterator[tuple[int, str]]:
        """Yield id and digest of every document by ascending id.

        Documents that were already yielded may change during the iteration.
        """
        query = "SELECT number, digest FROM documents WHERE number > ? ORDER BY number LIMIT ?"
        last_id = -1
        while rows := self._database.execute(query, (last_id, DOCUMENTS_PER_QUERY)).fetchall():
            yield from rows
            last_id = rows[-1][0]

    def document_count(self) -> int:
        """Return the number of documents."""
        return int(self._scalar("SELECT count(*) FROM documents") or 0)

    def iter_texts(self, document_ids: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Yield id and text of the given documents, as they were when their n-grams were counted."""
        for batch in batched(document_ids, MAX_SQL_VALUES):
            query = f"SELECT number, text FROM documents WHERE number IN ({_placeholders(batch)}) ORDER BY number"
            for document_id, text in self._database.execute(query, batch):
                is_old = text.startswith(OLD_TEXT_PREFIX)
                yield document_id, zlib.decompress(text).decode() if is_old else unpack_text(text)

    def save_documents(self, documents: Iterable[tuple[int, str, str]]) -> None:
        """Save id, digest and text of documents whose n-grams are counted. `iter_texts` returns the texts."""
        for document_id, digest, text in documents:
            row = document_id, digest, pack_text(text)
            self._database.execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", row)

    def delete_documents(self, document_ids: Sequence[int]) -> None:
        """Delete documents with their sentences."""
        for table, column in (("documents", "number"), ("sentences", "document")):
            self._database.executemany(f"DELETE FROM {table} WHERE {column} = ?", ((index,) for index in document_ids))

    def load_sentences(self, keys: Sequence[str]) -> dict[tuple[str, int], str]:
        """Return saved sentences by `word_key` and document; "" means that the document has no such sentence."""
        sentences = {}
        for batch in batched(keys, MAX_SQL_VALUES):
            rows = self._database.execute(f"SELECT * FROM sentences WHERE key IN ({_placeholders(batch)})", batch)
            sentences.update({(key, document): sentence for key, document, sentence in rows})
        return sentences

    def replace_sentences(self, sentences: Mapping[tuple[str, int], str]) -> None:
        """Replace all sentences and commit."""
        self._database.execute("DELETE FROM sentences")
        rows = ((*key_and_document, sentence) for key_and_document, sentence in sentences.items())
        self._database.executemany("INSERT INTO sentences VALUES (?, ?, ?)", rows)
        self._database.commit()

    # -- lines

    def documents_by_line(self, hashes: Collection[int]) -> dict[int, int]:
        """Return the number of documents by line hash, for lines that any document contains."""
        documents_by_line: dict[int, int] = {}
        for batch in batched(hashes, MAX_SQL_VALUES):
            documents_by_line.update(
                self._database.execute(f"SELECT * FROM lines WHERE line IN ({_placeholders(batch)})", batch)
            )
        return documents_by_line

    def save_line_counts(self, documents: Mapping[int, int]) -> None:
        """Save the number of documents per line hash. Lines with 0 documents are deleted."""
        lines_to_delete = [(line,) for line, document_count in documents.items() if not document_count]
        lines_to_save = sorted((line, document_count) for line, document_count in documents.items() if document_count)
        self._database.executemany("DELETE FROM lines WHERE line = ?", lines_to_delete)
        self._database.executemany("INSERT OR REPLACE INTO lines VALUES (?, ?)", lines_to_save)

    # -- words

    def get_or_add_word_ids(self, words: Sequence[str]) -> Int32Array:
        """Return the ids of words; new words get a new id."""
        if len(self._id_by_word) > MAX_CACHED_WORDS:
            self._id_by_word.clear()
        unknown_words = [word for word in words if word not in self._id_by_word]
        add = "INSERT OR IGNORE INTO words (word, times) VALUES (?, 0)"
        self._database.executemany(add, ((word,) for word in unknown_words))
        self._id_by_word.update((word, index) for index, word, _ in self.iter_words("word", unknown_words))
        return np.fromiter(map(self._id_by_word.__getitem__, words), dtype=np.int32, count=len(words))

    def add_occurrences(self, word_ids: Int64Array, occurrences: Int64Array) -> None:
        """Add to the occurrences of words. Negative numbers subtract."""
        rows = zip(occurrences.tolist(), word_ids.tolist(), strict=True)
        self._database.executemany("UPDATE words SET times = times + ? WHERE number = ?", rows)

    def word_totals(self) -> tuple[int, int]:
        """Return the total number of word occurrences and the number of distinct words."""
        total, distinct = self._database.execute("SELECT sum(times), count(*) FROM words WHERE times > 0").fetchone()
        return int(total or 0), int(distinct)

    # -- rows

    @property
    def key_range_count(self) -> int:
        """Number of key ranges of the rows: a power of two, or 0 without rows."""
        return int(self._read_metadata("ranges") or 0)

    @property
    def row_count(self) -> int:
        """Total number of stored rows."""
        return int(self._read_metadata("rows") or 0)

    @property
    def has_evicted_rows(self) -> bool:
        """True if unlikely rows were ever evicted."""
        return self._read_metadata("forgotten") == "1"

    def read_rows(self, range_index: int) -> NgramRows:
        """Return the rows of a key range.

        Raises:
            DamagedCountsError: the file is missing or damaged.
            LexiconError: the file cannot be read.
        """
        return read_rows(self._rows_path(self._generation, range_index)) if self.key_range_count else allocate_rows(0)

    def write_rows(self, range_index: int, rows: NgramRows) -> None:
        """Write a key range of the next generation."""
        write_rows(rows, self._rows_path(self._generation + 1, range_index))

    def commit_generation(self, ranges: int, rows: int, has_evicted_rows: bool) -> None:
        """Commit the next generation, all ranges of which are written, and delete the files of the previous generation.

        Args:
            ranges: number of key ranges.
            rows: number of rows.
            has_evicted_rows: True if unlikely rows were evicted.
        """
        obsolete_paths = [self._rows_path(self._generation, index) for index in range(self.key_range_count)]
        generation = self._generation + 1
        self._write_metadata(
            {"generation": generation, "ranges": ranges, "rows": rows, "forgotten": int(has_evicted_rows)}
        )
        self._database.commit()
        self._id_by_word.clear()
        for path in obsolete_paths:
            path.unlink(missing_ok=True)

    # -- inside

    @property
    def _generation(self) -> int:
        return int(self._read_metadata("generation") or 0)

    def _rows_path(self, generation: int, range_index: int) -> Path:
        return self.folder / f"rows-{generation}-{range_index}.z"

    def _read_metadata(self, name: str) -> str | None:
        return self._scalar("SELECT value FROM about WHERE name = ?", name)

    def _scalar(self, query: str, *values: object) -> str | None:
        row = self._database.execute(query, values).fetchone()
        return row[0] if row else None

    def _write_metadata(self, metadata: Mapping[str, object]) -> None:
        rows = [(name, str(value)) for name, value in metadata.items()]
        self._database.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", rows)

    def iter_words(self, column: str, values: Sequence[object]) -> Iterator[tuple[int, str, int]]:
        """Yield id, spelling and occurrences of the words with these values of a column: `number` (id) or `word`."""
        for batch in batched(values, MAX_SQL_VALUES):
            yield from self._database.execute(
                f"SELECT number, word, times FROM words WHERE {column} IN ({_placeholders(batch)})", batch
            )


def _placeholders(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))
