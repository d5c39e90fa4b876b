"""Keys of near-duplicates beyond one table: rows and bytes an article, and how many of today's candidates are found.

rows        today's table `bands`, with its indexes, in PostgreSQL
sealed      the keys of a month that is over, sorted, with the numbers of their articles: one file-like row a part
LSHBloom    a Bloom filter a band (Khan et al., arXiv 2411.04257): says that a key was seen, not by whom
"""

import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from rbloom import Bloom
from sqlalchemy import create_engine, text

from benchmarks.gold_web import GoldPage
from benchmarks.results import Figure
from benchmarks.scale_cluster import Postgres
from docstore.grouping.near_duplicates import bands_of
from extractor.signature import signature
from text.resemblance.copies import Text

BLOOM_FALSE = 1e-5  # of a filter: what the paper takes
KEYS_A_PART = 65_536


def bands(folder: Path, pages: Sequence[GoldPage]) -> Iterator[Figure]:
    """What each form takes for the gold texts of pages, and what it finds of those that today's table finds."""
    keys = [keys_of(page) for page in pages if page.is_scored]
    keys = [own for own in keys if own]
    today = [bool(found) for found in sharing(keys)]
    rows = sum(map(len, keys))
    yield from figures("rows", rows / len(keys), row_bytes(folder, keys) / len(keys), 1.0)
    sealed = Sealed(keys)
    found = [sealed.shares(own, number) for number, own in enumerate(keys)]
    yield from figures("sealed", sealed.parts / len(keys), sealed.size / len(keys), recall(today, found))
    blooms, seen = bloomed(keys)
    yield from figures("LSHBloom", 0.0, blooms / len(keys), recall(today, seen))
    extra = sum(now and not before for before, now in zip(today, seen, strict=True))
    yield Figure("bands", "LSHBloom", "false candidates, % of articles", 100 * extra / len(keys))
    yield Figure("bands", "all", "articles", len(keys))


def keys_of(page: GoldPage) -> list[int]:
    """What an article leaves: the bands of its signature, and the keys of its text."""
    own = signature(page.body)
    return sorted({*bands_of(own), *Text(page.title, page.body, "").keys}) if own else []


def sharing(keys: Sequence[Sequence[int]]) -> Iterator[set[int]]:
    """For each article those before it that share a key."""
    before: dict[int, list[int]] = {}
    for number, own in enumerate(keys):
        yield {other for key in own for other in before.get(key, ())}
        for key in own:
            before.setdefault(key, []).append(number)


class Sealed:
    """Sorted keys in parts, each with the numbers of its articles, packed."""

    def __init__(self, keys: Sequence[Sequence[int]]) -> None:
        pairs = sorted((key, number) for number, own in enumerate(keys) for key in own)
        self._keys = np.array([key for key, _ in pairs], dtype=np.int64)
        self._numbers = np.array([number for _, number in pairs], dtype=np.int64)
        starts = range(0, len(pairs), KEYS_A_PART)
        self.parts = len(starts)
        self.size = sum(self._packed(start) for start in starts)

    def _packed(self, start: int) -> int:
        part = slice(start, start + KEYS_A_PART)
        packed = np.diff(self._keys[part], prepend=np.int64(0)).tobytes(), self._numbers[part].astype("<i8").tobytes()
        return sum(len(zlib.compress(column)) for column in packed)

    def shares(self, own: Sequence[int], number: int) -> bool:
        """Has an article before this one left one of its keys?"""
        left = np.searchsorted(self._keys, own, "left")
        return any(
            at < len(self._keys) and self._keys[at] == key and self._numbers[at] < number
            for at, key in zip(left, own, strict=True)
        )


def bloomed(keys: Sequence[Sequence[int]]) -> tuple[float, list[bool]]:
    """Bytes of the filters, and of which articles one of them says that a key was seen before."""
    seen = Bloom(max(1, sum(map(len, keys))), BLOOM_FALSE)
    said = []
    for own in keys:
        said.append(any(key in seen for key in own))
        seen.update(own)
    return seen.size_in_bits / 8, said


def row_bytes(folder: Path, keys: Sequence[Sequence[int]]) -> float:
    """What PostgreSQL needs for the table and its indexes."""
    postgres = Postgres(folder / "postgres")
    try:
        engine = create_engine(postgres.database("bands"))
        rows = [{"band": key, "url_id": number} for number, own in enumerate(keys) for key in own]
        with engine.begin() as connection:
            connection.execute(text("CREATE TABLE bands (band BIGINT, url_id BIGINT, PRIMARY KEY (band, url_id))"))
            connection.execute(text("CREATE INDEX bands_by_article ON bands (url_id)"))
            connection.execute(text("INSERT INTO bands VALUES (:band, :url_id)"), rows)
            size = connection.scalar(text("SELECT pg_total_relation_size('bands')"))
        engine.dispose()
    finally:
        postgres.close()
    return float(size or 0)


def recall(today: Sequence[bool], found: Sequence[bool]) -> float:
    """Of the articles for which today's table has a candidate, the part for which this one has too."""
    return sum(a and b for a, b in zip(today, found, strict=True)) / max(1, sum(today))


def figures(system: str, rows: float, size: float, found: float) -> Iterator[Figure]:
    """The three figures of a form."""
    for metric, value in (("rows an article", rows), ("bytes an article", size), ("recall", found)):
        yield Figure("bands", system, metric, value)
