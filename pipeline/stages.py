"""The engine on one page.

    seeds | crawl   -> Page     pages worth keeping, in order of promise       crawler/crawl.py
          | extract -> Article  title, date, body; or a reason why not         extractor/article_extractor.py
          |                     the same of PDF, Word and other files          extractor/documents/read.py
          | embed   -> Vector   what a model of meaning makes of title and text   pipeline/embedding/stage.py
          | mine    -> Term     candidate words of the domain, by C-value      lexicon/mine.py
          | publish -> Lexicon  the administrator's choice, versioned          lexicon/review.py
          | index   -> Solr     whatever changed since the last run            indexer/sync.py
          | serve   -> Hit      what the reader sees                           search_ui/app.py

Each arrow is a table in the store (docstore/store.py): a stage asks it what is pending and commits its results,
outcomes and change-log entries together, so any stage can stop, be killed, run alone, or run twice. A stage loads its
packages when it begins: no command waits for the packages of stages that it does not run.
The loop closes over time: a published lexicon re-segments the documents that contain its new words.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from artifacts.jars import JarError
from crawler.settings import FOCUSED, CrawlSettings, strategy_of
from docstore.errors import BusyError, EmbedError, ForeignIndexError, PlumblineError
from docstore.model import Reason, Stage, StageReport, TermStatus
from extractor.settings import EXTRACTOR_VERSION
from pipeline.crawl_progress import shown

if TYPE_CHECKING:
    from crawler.guide import Guide
    from crawler.progress import CrawlProgress
    from docstore.articles.table import ArticleTable
    from docstore.grouping.near_duplicates import Grouping
    from docstore.model import Lexicon
    from docstore.store import Store
    from indexer.solr import SolrIndex
    from lexicon.counting.corpus import CorpusDocument
    from lexicon.offers import Reviewed
    from pipeline.engine import Engine
    from pipeline.runs.run_record import RunRecord

EMBED_AHEAD = 300.0  # seconds of embedding before the index has new articles; what is left comes behind it
INDEX_WAIT = 3600.0  # seconds to wait while another process indexes: it does our work
MAX_MERGED = 100_000  # documents: writing a larger index anew every night costs more than it is worth
FAILURES_MOST = 50  # more unexpected failures than this, and more than a fifth of all, stop a stage


def crawl(engine: "Engine", watch: "Callable[[CrawlProgress], None] | None" = None) -> StageReport:
    """Ask every URL that is due, follow what is worth following; `watch` is told now and then how far it is."""
    from crawler.crawl import crawl as run_crawl
    from crawler.http.fetch import Fetcher
    from pipeline.engines.crawling import crawl_with_workers, is_shared_out
    from pipeline.missed_documents import add_missed_documents

    with (
        engine.lock("crawl"),
        closing(Fetcher(engine.settings.crawl, engine.addresses)) as fetcher,
        looking_for_topic(engine) as (settings, guide),
    ):
        seen = engine.settings.data_dir / "seen.bloom"
        engine.store.frontier.trust_clock(time.time())
        engine.store.frontier.desk.deepen(settings.depth)
        add_missed_documents(engine, settings)
        with shown(engine.progress) if watch is None else nullcontext(watch) as tell:
            if is_shared_out(engine.settings):
                report = crawl_with_workers(engine, tell)
            else:
                report = run_crawl(engine.store.frontier, fetcher, settings, seen, progress=tell, guide=guide)
        if left := engine.store.upload_pages():
            report = replace(report, notes=(*report.notes, f"{left} WARC files could not be uploaded: see the log"))
        return report


@contextmanager
def looking_for_topic(engine: "Engine") -> "Iterator[tuple[CrawlSettings, Guide | None]]":
    """The crawl's settings, and who judges pages and links, where it looks for a topic; at the end that one decides
    what is kept, and what it has learned is saved."""
    if strategy_of(engine.settings.crawl) not in FOCUSED:
        yield engine.settings.crawl, None
        return
    from pipeline.topic.guide import guide_for, settings_for  # scikit-learn: a crawl without a topic does without
    from pipeline.topic.keeping import settle

    settings = settings_for(engine)
    guide = guide_for(engine, settings)
    try:
        yield settings, guide
        settle(engine, guide)
    finally:
        guide.save()
        guide.means.close()


def extract(engine: "Engine") -> StageReport:
    """Make an article, or an outcome, of every page that was fetched new or changed."""
    from pipeline.engines.extraction import extracted, grouping_of

    started, counts = time.monotonic(), Counter[Reason]()
    articles = engine.store.articles
    with engine.lock("extract"):
        articles.use_extractor(EXTRACTOR_VERSION)
        grouping = grouping_of(engine.settings.extract)
        group_again(engine, grouping)
        counts.update(articles.forget_gone(grouping))
        learn_sites(engine)
        waiting = articles.pending_count()
        with engine.progress.task("extract", waiting) as advance:
            for became, pages in extracted(engine.work, articles, engine.settings):
                counts.update(became)
                stop_if_hopeless(Stage.EXTRACT, counts)
                advance(pages)
    return StageReport(Stage.EXTRACT, counts, time.monotonic() - started)


def group_again(engine: "Engine", grouping: "Grouping") -> None:
    """Decide anew which articles are copies, where older rules did."""
    from text.resemblance.copies import VERSION

    articles = engine.store.articles
    if articles.is_grouped(VERSION):
        return
    with engine.progress.task("copies", articles.count()) as advance:
        for done in articles.group_again(VERSION, grouping):
            advance(done)


def learn_sites(engine: "Engine") -> None:
    """Look at a few pages of each new site for what repeats: its first pages need to know it as well."""
    from pipeline.engines.extraction import learned

    articles = engine.store.articles
    sample = [page for page in articles.sample() if not page.is_document]
    if not sample:
        return
    with engine.progress.task("sites", len(sample)) as advance:
        for pages in learned(engine.work, articles, sample, engine.settings):
            advance(pages)


def mine(engine: "Engine") -> StageReport:
    """Mine the articles for candidate terms; decisions taken before stay."""
    from lexicon.mine import mine_terms
    from pipeline.keeping.digests import drop_damaged, keep_digests

    started = time.monotonic()
    with engine.lock("lexicon"):
        version = engine.store.articles.text_version()
        counts, corpus = engine.settings.data_dir / "lexicon", StoredCorpus(engine.store.articles)
        drop_damaged(counts)
        known = [term.text for term in engine.store.lexicon.accepted()]
        task, reviewed = engine.progress.task, reviewed_in(engine.store)
        spread = engine.work.in_order if engine.work.is_spread else None
        terms = mine_terms(
            corpus, engine.settings.lexicon, task, counts=counts, seeds=known, reviewed=reviewed, spread=spread
        )
        new = engine.store.lexicon.replace_candidates(terms, version)
        keep_digests(counts)
    notes = (f"{len(terms)} candidate terms, {new} of them new",)
    return StageReport(Stage.LEXICON, {}, time.monotonic() - started, notes)


def reviewed_in(store: "Store") -> "Reviewed":
    """What the review has said so far, as the miner wants to know it."""
    from lexicon.offers import Reviewed
    from text.folding import word_key

    texts = {status: map(word_key, store.queue.texts(status)) for status in TermStatus}
    waiting = frozenset(texts.pop(TermStatus.CANDIDATE))
    return Reviewed(frozenset(chain(*texts.values())), waiting)


def publish(engine: "Engine", by: str = "") -> "Lexicon":
    """Publish the accepted terms as the next version. NothingToPublishError if that would change nothing."""
    from pipeline.search_site.review_service import StoreReview

    return StoreReview(engine.store).publish(by)


def open_solr(engine: "Engine") -> StageReport:
    """Wait until Solr is open and has a collection: where it was not begun beside other stages, from now on."""
    waiting = time.monotonic()
    opening = engine.open_index_beside()
    engine.index  # noqa: B018
    waited = time.monotonic() - waiting
    notes = ("opened",) if waited >= opening.seconds else (f"opened beside the stages before, {waited:.1f} s longer",)
    return StageReport(Stage.SOLR, {}, opening.seconds, notes)


def index(engine: "Engine", wait: float = INDEX_WAIT, adopt: bool = False) -> StageReport:
    """Bring Solr in step: first a newly published lexicon, then the change log.

    Waits so many seconds where another process does this. Raises ForeignIndexError where the index was filled from
    another store, unless this one shall `adopt` it.
    """
    from indexer.relations import relate
    from indexer.sync import apply_lexicon, remove_orphans, sync

    with engine.lock("index", wait):
        started = time.monotonic()
        target, notes = collection_to_fill(engine, adopt)
        again = apply_lexicon(engine.store, target)
        if again:
            notes += (f"{again} documents hold a changed term and are segmented again",)
        if moved := relate(engine.store, engine.analysis().base):
            notes += (f"{moved} documents are cited more or less often, or tell another story, and are indexed again",)
        with engine.progress.task("index", engine.store.changes.count()) as advance:
            counts = sync(engine.store, target, engine.analysis(), engine.settings.index.batch, advance)
        if orphans := remove_orphans(engine.store, target):
            notes += (f"{orphans} documents that the store does not know were deleted",)
        if target is not engine.index:
            engine.index.switch_alias()
        engine.serve_complete_models()
    return StageReport(Stage.INDEX, counts, time.monotonic() - started, notes)


def embed(engine: "Engine", seconds: float | None = None) -> StageReport:
    """Give articles their vectors, for at most so many seconds. Raises EmbedError, JarError where there is no model."""
    from pipeline.embedding.stage import embed as embed_all  # numpy: what embeds nothing does without

    return embed_all(engine, seconds)


def embed_if_possible(engine: "Engine", seconds: float | None = None) -> StageReport:
    """As `embed`; without a model articles are found by their words, and the run goes on."""
    try:
        return embed(engine, seconds)
    except (EmbedError, JarError) as error:
        return StageReport(Stage.EMBED, {}, 0.0, (f"found by words alone: {error}",))


def run(engine: "Engine", until: str = "index", command: str = "run", only: str = "") -> list[StageReport]:
    """The stages once, in order, as the nightly run does, or one of them alone. Solr starts while they crawl and
    extract."""
    with engine.lock("run"), recorded(engine, command) as record:
        engine.store.searches.purge(engine.settings.search.log_days)  # first: whatever fails below, it is done
        if until == "index" and only in ("", "index"):
            engine.open_index_beside()
        for name, stage in FLOW.items():
            if only and name != only:
                continue
            if stage is mine and not engine.store.lexicon.is_outdated():
                continue  # no article changed: the candidates would be the same
            if stage is index:
                record.do(Stage.SOLR, lambda: open_solr(engine))
            record.do(Stage(name), partial(stage, engine))
            if name == until:
                break
        if until == "index" and any(Reason.EMBEDDED in report.counts for report in record.reports):
            embed_the_rest(engine, record)
        if any(report.stage is Stage.INDEX for report in record.reports):
            tidy(engine)
        seal_keys(engine)
        return record.reports


@contextmanager
def recorded(engine: "Engine", command: str) -> "Iterator[RunRecord]":
    """The record of a run. A damaged store ends it before it begins: what it does would rest on that."""
    from pipeline.keeping.night import faults_before_run, refuse_damaged
    from pipeline.runs.run_record import RunRecord

    faults = faults_before_run(engine)
    with RunRecord(engine.store, command) as record:
        refuse_damaged(faults)
        yield record


def tidy(engine: "Engine") -> None:
    """Merge the index of a run that is done, so that scores and the order of equals hang on its documents alone."""
    with engine.lock("index", INDEX_WAIT):
        if engine.index.count() <= MAX_MERGED:
            engine.index.merge()


def seal_keys(engine: "Engine") -> None:
    """Seal the keys of near-duplicates of past months, unless somebody extracts: then the next night does."""
    with suppress(BusyError), engine.lock("extract"):
        engine.store.sealing.seal_past()


def embed_the_rest(engine: "Engine", record: "RunRecord") -> None:
    """What the first embedding of a run had no time for, now that all can be found by words."""
    if engine.to_embed():
        record.do(Stage.EMBED, partial(embed_if_possible, engine))
        record.do(Stage.INDEX, partial(index, engine))


FLOW: "dict[str, Callable[[Engine], StageReport]]" = {
    "crawl": crawl,
    "extract": extract,
    "embed": partial(embed_if_possible, seconds=EMBED_AHEAD),
    "lexicon": mine,
    "index": index,
}


def collection_to_fill(engine: "Engine", adopt: bool = False) -> "tuple[SolrIndex, tuple[str, ...]]":
    """The collection to write to, which is this store's. A changed schema gets a new one, filled before the searches
    have it; one that has lost documents (a restored or emptied Solr) is filled again.
    """
    from indexer.solr import Built

    index, changes = engine.index, engine.store.changes
    is_outdated = index.ensure() is Built.OUTDATED
    index.commit(soft=True)
    target = index.successor() if is_outdated else index
    if adopted := own(engine, index, adopt):
        return target, adopted
    if is_outdated:
        return target, (f"the schema has changed: {changes.enqueue_all()} articles into a new collection",)
    if index.count() < changes.indexed_count():
        return target, (f"Solr has lost documents: {changes.enqueue_all()} articles are indexed again",)
    return target, ()


def own(engine: "Engine", index: "SolrIndex", adopt: bool) -> tuple[str, ...]:
    """Make sure that the index is this store's; says so where it was another's. ForeignIndexError: it stays so."""
    from indexer.ownership import TAKE_OVER, Holding, ownership_fault

    store, owner = engine.store, index.owner()
    holding = Holding(store.store_id, store.articles.count(), store.changes.indexed_count(), store.changes.count())
    fault = ownership_fault(owner, index.count(), holding)
    if fault and not adopt:
        raise ForeignIndexError(f"{fault}: {TAKE_OVER}")
    # What this store says of the index is of another one; killed before the claim, it is refused again.
    notes = (f"the index is this store's now: {store.changes.enqueue_all()} articles to write",) if fault else ()
    if owner != store.store_id:
        index.claim(store.store_id)
    return notes


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


class StoredCorpus:
    """The articles, read from the store each time they are asked for: see `lexicon.counting.corpus.Corpus`."""

    def __init__(self, articles: "ArticleTable") -> None:
        self._articles = articles

    def digests(self) -> Iterator[tuple[int, str]]:
        """Number and digest of every article."""
        return self._articles.digests()

    def read(self, numbers: Sequence[int]) -> "Iterator[CorpusDocument]":
        """The articles with these numbers."""
        from lexicon.counting.corpus import CorpusDocument

        return (CorpusDocument(*text) for text in self._articles.texts(numbers))
