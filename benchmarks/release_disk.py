"""Set `disk` of `make bench-release`: disk use per article, without transaction log and vectors.

articles         number of articles
kb_per_article   sum of the four parts, KB (1,000 bytes)
store_kb         the SQLite store without reusable space, and its largest tables (`store_kb articles`)
solr_kb          the index after a merge to one segment, and its files by suffix (`solr_kb .pos`: positions)
warc_kb          the saved pages
lexicon_kb       counts of the term mining

Articles are generated (benchmarks/generated_articles.py) and pass through store, WARC writer, near-duplicate detection,
term mining and Solr. The extractor is not used.
"""

import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from benchmarks.generated_articles import GeneratedPage, generate_page
from benchmarks.results import OURS, Figure
from benchmarks.scale_model import bytes_below
from docstore.articles.extraction_writer import PageExtraction
from docstore.store import Store
from domain.batches import batched
from domain.frontier import NewUrl, UrlKind, Visit
from domain.outcome import Outcome, Reason
from domain.page import Host
from indexer.settings import IndexSettings
from pipeline import stages
from pipeline.compute.extraction_jobs import create_copy_detection
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import Settings

BATCH_PAGES = 500
REVISIT_SECONDS = 86_400.0
MAX_DETAILS = 8  # tables and suffixes


def measure_disk(article_count: int) -> Iterator[Figure]:
    """Yield the disk use per article of a new vertical with `article_count` generated articles."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        settings = Settings(Path(name), index=IndexSettings(start_timeout=600))
        with Engine(settings, NullProgress()) as engine:
            for numbers in batched(range(article_count), BATCH_PAGES):
                save_pages(engine.store, settings, [generate_page(number) for number in numbers])
            stages.mine_candidates(engine)
            stages.index(engine)
            engine.index.optimize()
            yield from disk_figures(settings.data_dir, engine.index.count())


def save_pages(store: Store, settings: Settings, generated_pages: list[GeneratedPage]) -> None:
    """Save pages and articles as crawl and extraction do."""
    generated_by_url = {generated.page.url: generated for generated in generated_pages}
    hosts = {url: Host(url.split("/")[2]) for url in generated_by_url}
    store.frontier.add_urls([NewUrl(url, hosts[url], 0, 0, UrlKind.UNKNOWN, 0.0) for url in generated_by_url])
    entries = store.frontier.find_entries(list(generated_by_url))
    visits = [
        Visit(entries[url], Outcome(Reason.FETCHED), page.fetched_at, None, REVISIT_SECONDS, page=page)
        for url, (page, _) in generated_by_url.items()
    ]
    store.frontier.record_visits(visits)
    pending = list(store.articles.iter_pending(min(entry.url_id for entry in entries.values())))
    extractions = [PageExtraction(page, generated_by_url[page.url].article) for page in pending]
    store.articles.save(extractions, create_copy_detection(settings.extract))


def disk_figures(data_dir: Path, article_count: int) -> Iterator[Figure]:
    """Yield the figures of a vertical."""
    index_files = Counter[str]()
    for folder in (path for path in (data_dir / "solr").rglob("index*") if path.is_dir()):
        for file in folder.iterdir():
            index_files[file.suffix] += file.stat().st_size
    tables = Counter(table_bytes(data_dir / "store.db"))
    bytes_by_part = {
        "store_kb": tables.total(),
        "solr_kb": index_files.total(),
        "warc_kb": bytes_below(data_dir / "warc"),
        "lexicon_kb": bytes_below(data_dir / "lexicon"),
    }
    details = {
        f"{part} {name}": size
        for part, sizes in (("store_kb", tables), ("solr_kb", index_files))
        for name, size in sizes.most_common(MAX_DETAILS)
    }
    yield Figure("disk", OURS, "articles", article_count)
    yield Figure("disk", OURS, "kb_per_article", sum(bytes_by_part.values()) / article_count / 1000)
    for metric, size in (bytes_by_part | details).items():
        yield Figure("disk", OURS, metric, size / article_count / 1000)


def table_bytes(database: Path) -> dict[str, int]:
    """Return the bytes of the tables of a SQLite database, with their indexes, by table. Reusable space is omitted."""
    copy = database.with_suffix(".compact")
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))
    query = "SELECT coalesce(tbl_name, name), sum(pgsize) FROM dbstat LEFT JOIN sqlite_master USING (name) GROUP BY 1"
    with closing(sqlite3.connect(copy)) as connection:
        sizes = dict(connection.execute(query).fetchall())
    copy.unlink()
    return sizes
