"""The engine on one page.

    seeds | crawl   -> Page     pages worth keeping, in order of promise       crawler/crawl.py
          | extract -> Article  title, date, body; or a reason why not         extractor/extract.py
          | mine    -> Term     candidate words of the domain, by C-value      lexicon/build.py
          | publish -> Lexicon  the administrator's choice, versioned          lexicon/review.py
          | index   -> Solr     whatever changed since the last run            indexer/sync.py
          | serve   -> Hit      what the reader sees                           search_ui/app.py

Each arrow is a table in the store (docstore/store.py): a stage asks it what is pending and commits its results,
outcomes and change-log entries together, so any stage can stop, be killed, run alone, or run twice.
The loop closes over time: a published lexicon re-segments the documents that contain its new words.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing

from crawler.crawl import crawl as run_crawl
from crawler.fetch import Fetcher
from crawler.focused_words import Guide
from crawler.progress import Progress
from crawler.settings import FOCUSED, CrawlSettings, strategy_of
from docstore.articles import ArticleTable
from docstore.batches import batched
from docstore.errors import PlumblineError
from docstore.model import Lexicon, Reason, Stage, StageReport
from extractor.settings import EXTRACTOR_VERSION
from indexer.solr import Built, SolrIndex
from indexer.sync import apply_lexicon, remove_orphans, sync
from lexicon.build import mine_terms
from pipeline.engine import Engine
from pipeline.extraction import extract_pages
from pipeline.review_desk import StoreDesk

SAVE_EVERY = 25  # extractions in one transaction: what kill -9 can cost is their computing time
INDEX_WAIT = 120.0  # seconds to wait while another process indexes
FAILURES_MOST = 50  # more unexpected failures than this, and more than a fifth of all, stop a stage


def crawl(engine: Engine, watch: Callable[[Progress], None] | None = None) -> StageReport:
    """Ask every address that is due, follow what is worth following; `watch` is told now and then how far it is."""
    with engine.lock("crawl"), closing(Fetcher(engine.settings.crawl, engine.addresses)) as fetcher:
        settings, guide = looking_for_topic(engine)
        seen = engine.settings.data_dir / "seen.bloom"
        engine.store.frontier.trust_clock(time.time())
        if watch is not None:
            return run_crawl(engine.store.frontier, fetcher, settings, seen, progress=watch, guide=guide)
        with engine.progress.task("crawl") as advance:
            tell = by_difference(advance)
            told = lambda now: tell(sum(now.counts.values()))  # noqa: E731
            return run_crawl(engine.store.frontier, fetcher, settings, seen, progress=told, guide=guide)


def looking_for_topic(engine: Engine) -> tuple[CrawlSettings, Guide | None]:
    """The crawl's settings, and who judges pages and links, where it looks for a topic."""
    if strategy_of(engine.settings.crawl) not in FOCUSED:
        return engine.settings.crawl, None
    from pipeline.topic_guide import guide_for, settings_for  # scikit-learn: a crawl without a topic does without

    settings = settings_for(engine)
    return settings, guide_for(engine, settings)


def extract(engine: Engine) -> StageReport:
    """Make an article, or an outcome, of every page that was fetched new or changed."""
    started, counts = time.monotonic(), Counter[Reason]()
    articles, settings = engine.store.articles, engine.settings.extract
    with engine.lock("extract"):
        articles.use_extractor(EXTRACTOR_VERSION)
        counts.update(articles.forget_gone(settings.near_duplicate))
        learn_sites(engine)
        waiting = articles.pending_count()
        with engine.progress.task("extract", waiting) as advance:
            pages = articles.pending()
            done = extract_pages(pages, articles.read_page, settings, ask_site=articles.site)
            for batch in batched(done, SAVE_EVERY):
                counts.update(articles.save(batch, settings.near_duplicate))
                stop_if_hopeless(Stage.EXTRACT, counts)
                advance(len(batch))
    return StageReport(Stage.EXTRACT, counts, time.monotonic() - started)


def learn_sites(engine: Engine) -> None:
    """Look at a few pages of each new site for what repeats: its first pages need to know it as well."""
    articles = engine.store.articles
    sample = articles.sample()
    if not sample:
        return
    with engine.progress.task("sites", len(sample)) as advance:
        done = extract_pages(sample, articles.read_page, engine.settings.extract)
        for batch in batched(done, SAVE_EVERY):
            articles.learn(batch)
            advance(len(batch))


def mine(engine: Engine) -> StageReport:
    """Mine the articles for candidate terms; decisions taken before stay."""
    started = time.monotonic()
    with engine.lock("lexicon"):
        total, version = engine.store.articles.count(), engine.store.articles.text_version()
        with engine.progress.task("lexicon", total) as advance:
            counts = engine.settings.data_dir / "lexicon"
            corpus = Corpus(engine.store.articles)
            known = [term.text for term in engine.store.lexicon.accepted()]
            terms = mine_terms(corpus, engine.settings.lexicon, by_difference(advance), counts=counts, seeds=known)
        new = engine.store.lexicon.replace_candidates(terms, version)
    notes = (f"{len(terms)} candidate terms, {new} of them new",)
    return StageReport(Stage.LEXICON, {}, time.monotonic() - started, notes)


def publish(engine: Engine, by: str = "") -> Lexicon:
    """Publish the accepted terms as the next version. NothingToPublishError if that would change nothing."""
    return StoreDesk(engine.store).publish(by)


def index(engine: Engine) -> StageReport:
    """Bring Solr in step: first a newly published lexicon, then the change log."""
    started = time.monotonic()
    with engine.lock("index", wait=INDEX_WAIT):
        target, notes = collection_to_fill(engine)
        again = apply_lexicon(engine.store, target)
        if again:
            notes += (f"{again} documents hold a changed term and are segmented again",)
        with engine.progress.task("index", engine.store.changes.count()) as advance:
            counts = sync(engine.store, target, engine.analysis(), engine.settings.index.batch, advance)
        if orphans := remove_orphans(engine.store, target):
            notes += (f"{orphans} documents that the store does not know were deleted",)
        if target is not engine.index:
            engine.index.switch_alias()
    return StageReport(Stage.INDEX, counts, time.monotonic() - started, notes)


def run(engine: Engine, until: str = "index") -> list[StageReport]:
    """The stages once, in order, as the nightly run does."""
    reports: list[StageReport] = []
    with engine.lock("run"):
        engine.store.searches.purge(engine.settings.search.log_days)  # first: whatever fails below, it is done
        run_id = engine.store.status.start_run("run")
        for name, stage in FLOW.items():
            if stage is mine and not engine.store.lexicon.is_outdated():
                continue  # no article changed: the candidates would be the same
            reports.append(stage(engine))
            if name == until:
                break
        engine.store.status.finish_run(run_id, reports)
    return reports


FLOW: dict[str, Callable[[Engine], StageReport]] = {
    "crawl": crawl,
    "extract": extract,
    "lexicon": mine,
    "index": index,
}


def collection_to_fill(engine: Engine) -> tuple[SolrIndex, tuple[str, ...]]:
    """The collection to write to. A changed schema gets a new one, filled before the searches have it; one that has
    lost documents (a restored or emptied Solr) is filled again.
    """
    index, changes = engine.index, engine.store.changes
    if index.ensure() is Built.OUTDATED:
        return index.successor(), (f"the schema has changed: {changes.enqueue_all()} articles into a new collection",)
    index.commit(soft=True)
    if index.count() < changes.indexed_count():
        return index, (f"Solr has lost documents: {changes.enqueue_all()} articles are indexed again",)
    return index, ()


def by_difference(advance: Callable[[int], None]) -> Callable[[int], None]:
    """Who works says how much is done in all; a bar wants to know how much more is done."""
    before = 0

    def tell(done: int) -> None:
        nonlocal before
        advance(done - before)
        before = done

    return tell


def stop_if_hopeless(stage: Stage, counts: Counter[Reason]) -> None:
    """A few failures are outcomes; very many mean that something is wrong with the program or the machine."""
    failed = counts[Reason.FAILED]
    if failed > FAILURES_MOST and failed * 5 > counts.total():
        raise PlumblineError(
            f"{failed} of {counts.total()} pages failed in {stage}: see logs/plumb.log, then run again"
        )


class Corpus:
    """Title and body of every article, read from the store each time they are asked for: no copy is held."""

    def __init__(self, articles: ArticleTable) -> None:
        self._articles = articles

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return ((stored.article.title, stored.article.body) for stored in self._articles.all())
