"""Filling the index: the set `bulk` of `make bench-search`.

The articles of a store go through the project's own `flush_changes`; plain Solr is sent the same texts, in batches of
the same size, through its own CJK analysis. Both in turns, in one Solr; the first round only warms Java up.
"""

import hashlib
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.results import Figure
from benchmarks.search_data import Collection, Document
from benchmarks.search_systems import OURS, PEER_SYSTEMS, TIMEOUT
from docstore.articles.extraction_writer import PageExtraction
from docstore.store import Store, open_sqlite_store
from domain.article import Article
from domain.batches import batched
from domain.errors import PlumblineError
from domain.frontier import NewUrl, UrlKind, Visit
from domain.outcome import Outcome, Reason
from domain.page import Host, Page
from domain.term import Lexicon
from indexer.document_mapping import TextAnalysis
from indexer.settings import IndexSettings
from indexer.solr_index import SolrIndex
from indexer.sync import flush_changes
from text.segment import base_segmenter

BULK = "bulk"
PLAIN = "solr-cjk"
ROUNDS = 3
ARTICLE = 600  # characters that a generated article has at least
AT_ONCE = 500
HOST = "bulk.test"


def generated(collections: Sequence[Collection], count: int, seed: int = 1) -> list[Document]:
    """Generate articles from real texts: the title of one document, and enough texts for `ARTICLE` characters."""
    if not any(collection.documents for collection in collections):
        raise PlumblineError("no documents to make articles of: give DATA=DIR, a folder of the form of ../shared/data")
    chance = random.Random(seed)
    real = [document for collection in collections for document in collection.documents if document.text]
    return [_joined(str(number), chance, real) for number in range(count)]


def _joined(name: str, chance: random.Random, real: Sequence[Document]) -> Document:
    first = chance.choice(real)
    texts = [first.text]
    while sum(map(len, texts)) < ARTICLE:
        texts.append(chance.choice(real).text)
    return Document(name, first.title or first.text[:20], "\n".join(texts))


def bulk_figures(url: str, documents: Sequence[Document]) -> Iterator[Figure]:
    """Yield documents per second of both, and the ratio of their medians."""
    speeds: dict[str, list[float]] = {OURS: [], PLAIN: []}
    with tempfile.TemporaryDirectory() as folder, open_sqlite_store(Path(folder)) as store:
        fill(store, documents)
        for _ in range(ROUNDS):
            speeds[PLAIN].append(len(documents) / plain_seconds(url, documents))
            speeds[OURS].append(len(documents) / sync_seconds(url, store))
    medians = {system: statistics.median(found[1:]) for system, found in speeds.items()}
    for system, speed in medians.items():
        yield Figure(BULK, system, "docs_per_s", speed)
    yield Figure(BULK, OURS, "docs_ratio", medians[OURS] / medians[PLAIN])


def plain_seconds(url: str, documents: Sequence[Document]) -> float:
    """Measure the seconds of plain Solr."""
    system = PEER_SYSTEMS[PLAIN](url, "bulk_plain")
    return _seconds(lambda: system.load(documents), system.drop)


def sync_seconds(url: str, store: Store) -> float:
    """Measure the seconds until the complete store is in an empty index of ours."""
    store.change_log.enqueue_all()
    index = SolrIndex(url, "bulk_ours", TIMEOUT)
    index.ensure_collection()
    analysis = TextAnalysis(Lexicon(), base_segmenter(), base_segmenter())
    return _seconds(lambda: _synced(store, index, analysis), index.delete_all)


def _synced(store: Store, index: SolrIndex, analysis: TextAnalysis) -> None:
    flush_changes(store, index, analysis, IndexSettings().batch)
    index.commit(soft=False)


def _seconds(work: Callable[[], None], after: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    seconds = time.perf_counter() - started
    after()
    return seconds


def fill(store: Store, documents: Sequence[Document]) -> None:
    """Put the documents into the store as if they had been crawled and extracted."""
    for batch in batched(documents, AT_ONCE):
        found = {f"http://{HOST}/{document.id}": document for document in batch}
        store.frontier.add_urls([NewUrl(url, Host(HOST), 0, 0, UrlKind.UNKNOWN, 0.0) for url in found])
        entries = store.frontier.find_entries(list(found))
        store.frontier.record_visits(
            [
                Visit(entries[url], Outcome(Reason.FETCHED), 1.0, None, 1.0, page=_page(url, document))
                for url, document in found.items()
            ]
        )
    for pages in batched(store.articles.iter_pending(), AT_ONCE):
        texts = {page.url_id: documents[int(page.url.rpartition("/")[2])] for page in pages}
        store.articles.save([PageExtraction(page, _article(page.url, texts[page.url_id])) for page in pages])


def _page(url: str, document: Document) -> Page:
    body = document.text.encode()
    return Page(0, url, url, 200, "text/html", body, hashlib.sha256(body).hexdigest(), 1.0)


def _article(url: str, document: Document) -> Article:
    return Article(url, document.title, document.text, language="zh")
