"""Keys of near-duplicates: rows and bytes per article, and recall of the current candidates.

rows        the table `bands` with its indexes in PostgreSQL sealed      the same keys in sealed form
(docstore/near_duplicates/key_compaction.py), with its lookup tables LSHBloom    a Bloom filter per band (Khan et al.,
arXiv 2411.04257): reports that a key was seen, not in which article

Gold articles give the recall. Generated articles (random keys, as many per article as gold articles have) give the size
of a larger store, the time of a lookup, and the longest transaction of sealing.
"""

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path

from pybloom_live import BloomFilter
from sqlalchemy import create_engine, event, insert, text

from benchmarks.gold_web import GoldPage
from benchmarks.postgres_server import PostgresServer
from benchmarks.results import Figure
from docstore.database import Database
from docstore.near_duplicates.clusters import leaders_by_shared_keys, signature_bands
from docstore.near_duplicates.key_compaction import KeyCompaction
from docstore.near_duplicates.key_segments import ready_segments
from docstore.schema.article_tables import articles
from docstore.schema.article_tables import near_duplicate_keys as band_rows
from docstore.schema.crawl_tables import urls
from domain.batches import batched
from extractor.minhash import minhash_signature
from text.similarity.duplicates import ComparedArticle

BLOOM_FALSE = 1e-5  # of a filter: what the paper takes
MADE = 40_000  # articles by default
LOOKED_FOR = 500  # articles whose candidates are looked for
AT_ONCE = 10_000  # rows
NOW = 1_790_812_800.0  # a first of October: what is sealed was extracted before
SEALED = ("key_parts", "sealed_keys", "sealed_leaders")
TABLES = ("bands", *SEALED)


def bands(folder: Path, pages: Sequence[GoldPage], articles: int = MADE) -> Iterator[Figure]:
    """Measure each form on the gold texts, and its recall relative to the rows."""
    keys = [keys_of(page) for page in pages if page.is_scored]
    keys = [own for own in keys if own]
    today = [bool(found) for found in sharing(keys)]
    postgres = PostgresServer(folder / "postgres")
    try:
        yield from stored(postgres, "gold", keys, today)
        blooms, seen = bloomed(keys)
        yield from figures("bands", "LSHBloom", 0.0, blooms / len(keys))
        yield Figure("bands", "LSHBloom", "recall", recall(today, seen))
        extra = sum(now and not before for before, now in zip(today, seen, strict=True))
        yield Figure("bands", "LSHBloom", "false candidates, % of articles", 100 * extra / len(keys))
        yield Figure("bands", "all", "articles", len(keys))
        yield from stored(postgres, "made", made(sum(map(len, keys)) // len(keys), articles), [])
    finally:
        postgres.close()


def made(count: int, articles: int) -> list[list[int]]:
    """Generate random keys for `count` articles."""
    chance = random.Random(1)
    return [[chance.randrange(-(2**63), 2**63) for _ in range(count)] for _ in range(articles)]


def stored(
    postgres: PostgresServer, name: str, keys: Sequence[Sequence[int]], today: Sequence[bool]
) -> Iterator[Figure]:
    """Store the keys as rows, then sealed, in a separate store.

    `today` says which articles have candidates; with [] the recall is not measured.
    """
    url, set_name = postgres.database(name), "bands" if today else "bands_made"
    with closing(Database(url)) as database:
        fill(database, keys)
        yield from figures(set_name, "rows", rows_of(url) / len(keys), size_of(url, TABLES[:1]) / len(keys))
        yield from looked(database, set_name, "rows", keys, today)
        longest = longest_transaction(database)
        started = time.process_time()
        KeyCompaction(database, lambda: NOW).seal_past_months(min_rows=0)
        yield Figure(
            set_name, "sealed", "sealing, CPU ms an article", 1000 * (time.process_time() - started) / len(keys)
        )
        yield Figure(set_name, "sealed", "longest transaction, ms", 1000 * max(longest))
        yield from figures(set_name, "sealed", rows_of(url) / len(keys), size_of(url, SEALED) / len(keys))
        compact = size_of(url, SEALED, "VACUUM FULL") / len(keys)
        yield Figure(set_name, "sealed", "bytes an article without what new parts use again", compact)
        left = size_of(url, TABLES[:1]) / len(keys)
        yield Figure(set_name, "sealed", "bytes an article of the table, for new rows", left)
        yield from looked(database, set_name, "sealed", keys, today)


def keys_of(page: GoldPage) -> list[int]:
    """Return the keys of an article: the bands of its signature, and the keys of its text."""
    own = minhash_signature(page.body)
    return sorted({*signature_bands(own), *ComparedArticle(page.title, page.body, "").duplicate_keys}) if own else []


def sharing(keys: Sequence[Sequence[int]]) -> Iterator[set[int]]:
    """Return for each article the earlier articles that share a key."""
    before: dict[int, list[int]] = {}
    for number, own in enumerate(keys):
        yield {other for key in own for other in before.get(key, ())}
        for key in own:
            before.setdefault(key, []).append(number)


def fill(database: Database, keys: Sequence[Sequence[int]]) -> None:
    """Put articles with only their keys into a store, as rows."""
    page = {"host": "", "queue": 0, "depth": 0, "kind": "", "priority": 0.0, "found_at": 0.0}
    own = dict.fromkeys(("title", "body", "published", "date_source", "language", "method", "digest"), "")
    pairs = chain(*([(key, number) for key in left] for number, left in enumerate(keys, 1)))
    with database.write() as connection:
        for batch in batched(range(1, len(keys) + 1), AT_ONCE):
            connection.execute(insert(urls), [{"url_id": n, "url": str(n), **page} for n in batch])
            rows = [{"url_id": n, "doc_id": str(n), "extracted_at": NOW - 1, **own} for n in batch]
            connection.execute(insert(articles), rows)
        for rows_now in batched(pairs, AT_ONCE):
            connection.execute(insert(band_rows), [{"band": key, "url_id": number} for key, number in rows_now])


def looked(
    database: Database, set_name: str, system: str, keys: Sequence[Sequence[int]], today: Sequence[bool]
) -> Iterator[Figure]:
    """Measure the time of a lookup and the recall."""
    wanted = keys if today else random.Random(2).sample(keys, LOOKED_FOR)
    with database.read() as connection:
        parts = ready_segments(connection)
        started = time.monotonic()
        found = [leaders_by_shared_keys(connection, 0, own, parts) for own in wanted]
        took = time.monotonic() - started
    yield Figure(set_name, system, "ms a look", 1000 * took / len(wanted))
    yield Figure(set_name, system, "parts", len(parts))
    if today:
        before = [any(other < number for other in one) for number, one in enumerate(found, 1)]
        yield Figure(set_name, system, "recall", recall(today, before))


def longest_transaction(database: Database) -> list[float]:
    """Return a list that collects the seconds of each writing transaction from now on."""
    engine = database._engine  # nobody else needs to know how long
    took, begun = [0.0], [0.0]
    event.listen(engine, "begin", lambda _connection: begun.__setitem__(0, time.monotonic()))
    event.listen(engine, "commit", lambda _connection: took.append(time.monotonic() - begun[0]))
    return took


def rows_of(url: str) -> int:
    """Count the rows of all key tables."""
    return sum(asked(url, f"SELECT count(*) FROM {name}") for name in TABLES)


def size_of(url: str, tables: Sequence[str], vacuum: str = "VACUUM") -> int:
    """Return the bytes of tables with their indexes, after a vacuum."""
    return sum(asked(url, f"SELECT pg_total_relation_size('{name}')", f"{vacuum} {name}") for name in tables)


def asked(url: str, query: str, before: str = "SELECT 1") -> int:
    """Return the number that a query gives, after another statement."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(before))
        found = int(connection.scalar(text(query)) or 0)
    engine.dispose()
    return found


def bloomed(keys: Sequence[Sequence[int]]) -> tuple[float, list[bool]]:
    """Return the bytes of the filters, and for each article whether a filter reports one of its keys as seen."""
    seen = BloomFilter(max(1, sum(map(len, keys))), BLOOM_FALSE)
    said = []
    for own in keys:
        said.append(any(key in seen for key in own))
        seen.update(own)
    return seen.size_in_bits / 8, said


def recall(today: Sequence[bool], found: Sequence[bool]) -> float:
    """Return the share of articles with a candidate in the current table that have a candidate here too."""
    return sum(a and b for a, b in zip(today, found, strict=True)) / max(1, sum(today))


def figures(set_name: str, system: str, rows: float, size: float) -> Iterator[Figure]:
    """Yield the size figures of a form."""
    yield Figure(set_name, system, "rows an article", rows)
    yield Figure(set_name, system, "bytes an article", size)
