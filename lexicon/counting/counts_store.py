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
from lexicon.counting.ngram_table import Int32Array, Int64Array, NgramRows, allocate_rows
from lexicon.counting.row_serialization import read_rows, write_rows

MAX_SQL_VALUES = 500  # values in one statement
DOCUMENTS_PER_QUERY = 10_000  # documents listed at a time
TEXT_ZLIB_OPTIONS = (3, zlib.DEFLATED, 13, 6)  # for texts of a page: larger tables take longer to make than the packing
SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE documents (number INTEGER PRIMARY KEY, digest TEXT NOT NULL, text BLOB NOT NULL);
CREATE TABLE lines (line INTEGER PRIMARY KEY, documents INTEGER NOT NULL);
CREATE TABLE words (number INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE, times INTEGER NOT NULL);
CREATE TABLE sentences (key TEXT, document INTEGER, sentence TEXT NOT NULL, PRIMARY KEY (key, document)) WITHOUT ROWID;
CREATE INDEX sentences_by_document ON sentences (document);
"""


class CountsStore:
    """The memory in a folder; `counting` names how was counted: what was counted otherwise is forgotten."""

    DATABASE_FILE = "counts.db"

    def __init__(self, folder: Path, counting_digest: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._database = sqlite3.connect(folder / self.DATABASE_FILE)
        try:
            if self._read_metadata("counting") != counting_digest:
                self._reset(counting_digest)
        except sqlite3.DatabaseError:  # no tables, or no database
            self._reset(counting_digest)
        self._delete_orphaned_files()

    def close(self) -> None:
        """Forget what was not committed."""
        self._database.close()

    # -- documents

    def iter_document_digests(self) -> Iterator[tuple[int, str]]:
        """Number and digest of every document, by rising numbers; those that were passed may change meanwhile."""
        query = "SELECT number, digest FROM documents WHERE number > ? ORDER BY number LIMIT ?"
        last_id = -1
        while rows := self._database.execute(query, (last_id, DOCUMENTS_PER_QUERY)).fetchall():
            yield from rows
            last_id = rows[-1][0]

    def document_count(self) -> int:
        """How many documents there are."""
        return int(self._scalar("SELECT count(*) FROM documents") or 0)

    def iter_texts(self, document_ids: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Number and counted text of these documents."""
        for batch in batched(document_ids, MAX_SQL_VALUES):
            query = f"SELECT number, text FROM documents WHERE number IN ({_placeholders(batch)}) ORDER BY number"
            for index, text in self._database.execute(query, batch):
                yield index, zlib.decompress(text).decode()

    def save_documents(self, documents: Iterable[tuple[int, str, str]]) -> None:
        """Keep number, digest and counted text of documents."""
        rows = ((index, digest, _compress(text)) for index, digest, text in documents)
        self._database.executemany("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", rows)

    def delete_documents(self, document_ids: Sequence[int]) -> None:
        """Forget documents."""
        for table, column in (("documents", "number"), ("sentences", "document")):
            self._database.executemany(f"DELETE FROM {table} WHERE {column} = ?", ((index,) for index in document_ids))

    def load_sentences(self, keys: Sequence[str]) -> dict[tuple[str, int], str]:
        """The known sentences for terms, by `word_key` and document; "" where the document was found to have none."""
        sentences = {}
        for batch in batched(keys, MAX_SQL_VALUES):
            rows = self._database.execute(f"SELECT * FROM sentences WHERE key IN ({_placeholders(batch)})", batch)
            sentences.update({(key, document): sentence for key, document, sentence in rows})
        return sentences

    def replace_sentences(self, sentences: Mapping[tuple[str, int], str]) -> None:
        """Know just these from now on."""
        self._database.execute("DELETE FROM sentences")
        rows = ((*key_and_document, sentence) for key_and_document, sentence in sentences.items())
        self._database.executemany("INSERT INTO sentences VALUES (?, ?, ?)", rows)
        self._database.commit()

    # -- lines

    def documents_by_line(self, hashes: Collection[int]) -> dict[int, int]:
        """On how many documents lines stand, of those that stand on any."""
        documents_by_line: dict[int, int] = {}
        for batch in batched(hashes, MAX_SQL_VALUES):
            documents_by_line.update(
                self._database.execute(f"SELECT * FROM lines WHERE line IN ({_placeholders(batch)})", batch)
            )
        return documents_by_line

    def save_line_counts(self, documents: Mapping[int, int]) -> None:
        """Know on how many documents lines stand from now on."""
        lines_to_delete = [(line,) for line, document_count in documents.items() if not document_count]
        lines_to_save = sorted((line, document_count) for line, document_count in documents.items() if document_count)
        self._database.executemany("DELETE FROM lines WHERE line = ?", lines_to_delete)
        self._database.executemany("INSERT OR REPLACE INTO lines VALUES (?, ?)", lines_to_save)

    # -- words

    def get_or_add_word_ids(self, words: Sequence[str]) -> Int32Array:
        """The numbers of words, new ones for those that are new."""
        add = "INSERT OR IGNORE INTO words (word, times) VALUES (?, 0)"
        self._database.executemany(add, ((word,) for word in words))
        id_by_word = {word: index for index, word, _ in self._select_words("word", words)}
        return np.fromiter((id_by_word[word] for word in words), dtype=np.int32, count=len(words))

    def add_occurrences(self, word_ids: Int32Array, occurrences: Int64Array) -> None:
        """The words with these numbers were written so many times more (or less)."""
        rows = zip(occurrences.tolist(), word_ids.tolist(), strict=True)
        self._database.executemany("UPDATE words SET times = times + ? WHERE number = ?", rows)

    def words_by_id(self, word_ids: Sequence[int]) -> list[tuple[int, str, int]]:
        """Number, spelling and times of the words with these numbers."""
        return list(self._select_words("number", word_ids))

    def words_by_spelling(self, words: Sequence[str]) -> list[tuple[int, str, int]]:
        """The same of those of `words` that are known."""
        return list(self._select_words("word", words))

    def word_totals(self) -> tuple[int, int]:
        """How many words the documents have, and how many different ones."""
        total, distinct = self._database.execute("SELECT sum(times), count(*) FROM words WHERE times > 0").fetchone()
        return int(total or 0), int(distinct)

    # -- rows

    @property
    def key_range_count(self) -> int:
        """Into how many ranges of keys the rows are parted: a power of two, or 0 for no rows at all."""
        return int(self._read_metadata("ranges") or 0)

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return int(self._read_metadata("rows") or 0)

    @property
    def has_evicted_rows(self) -> bool:
        """Whether rows that hardly matter were left out once."""
        return self._read_metadata("forgotten") == "1"

    def read_rows(self, range_index: int) -> NgramRows:
        """Those in one range of keys. LexiconError if they cannot be read."""
        return read_rows(self._rows_path(self._generation, range_index)) if self.key_range_count else allocate_rows(0)

    def write_rows(self, range_index: int, rows: NgramRows) -> None:
        """One range of the next generation."""
        write_rows(rows, self._rows_path(self._generation + 1, range_index))

    def commit_generation(self, ranges: int, rows: int, has_evicted_rows: bool) -> None:
        """From now on the next generation counts, of which all ranges were written; the last one is deleted."""
        obsolete_paths = [self._rows_path(self._generation, index) for index in range(self.key_range_count)]
        metadata = {
            "generation": self._generation + 1,
            "ranges": ranges,
            "rows": rows,
            "forgotten": int(has_evicted_rows),
        }
        self._write_metadata(metadata)
        self._database.commit()
        for path in obsolete_paths:
            path.unlink(missing_ok=True)

    # -- inside

    def _reset(self, counting_digest: str) -> None:
        """Forget everything."""
        self._database.close()
        for path in self.folder.iterdir():  # those of an older program too
            if path.is_file():
                path.unlink()
        self._database = sqlite3.connect(self.folder / self.DATABASE_FILE)
        self._database.executescript(SCHEMA)
        self._write_metadata({"counting": counting_digest})
        self._database.commit()

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

    def _select_words(self, column: str, values: Sequence[object]) -> Iterator[tuple[int, str, int]]:
        for batch in batched(values, MAX_SQL_VALUES):
            yield from self._database.execute(
                f"SELECT number, word, times FROM words WHERE {column} IN ({_placeholders(batch)})", batch
            )

    def _delete_orphaned_files(self) -> None:
        """Delete what a stopped run left: row files that no commit names."""
        committed_paths = {self._rows_path(self._generation, index) for index in range(self.key_range_count)}
        for path in set(self.folder.glob("rows-*.z")) - committed_paths:
            path.unlink()


def _compress(text: str) -> bytes:
    packing = zlib.compressobj(*TEXT_ZLIB_OPTIONS)
    return packing.compress(text.encode()) + packing.flush()


def _placeholders(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))
