"""A crawl that looks for a topic, put together: the topic's file, the strategy by name, pages as words.

At the start the guide is as the last run left it (focused/snapshot.py); where that cannot be had, because topic,
strategy or program are others, the strategy is shown again what the store has of earlier runs. Then the priorities of
all URLs that wait are what it says now. A topic or strategy that has changed thus takes effect on the whole frontier,
and pages that were not kept and now would be are asked again.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from crawler.crawl_plan import CrawlPlan, plan_of
from crawler.guide import SEED_PRIORITY, Cut, FocusedStrategy, TopicWords
from crawler.pages.links import links_of
from crawler.settings import BREADTH_FIRST, CrawlSettings
from crawler.urls.canonical import canonical, host_of, refuse
from docstore.articles.extraction_writer import PendingPage
from docstore.articles.table import LostPageError
from docstore.batches import batched
from docstore.formats import format_of_type
from docstore.frontier.focused_decisions import WHOLE, PageDecision
from docstore.model import Page, Reason
from docstore.topics import Topic, TopicState, TopicTerm, TopicTermClass
from focused.papers.knowledge import Given
from focused.papers.semantic import Semantic
from focused.papers.semantic_tree import SemanticTree, Vsm
from focused.papers.topic_library import LibrarySettings, StaticKeywords, TopicLibrary
from focused.papers.topic_tree import tree_of
from focused.snapshot import Snapshot, code_version
from focused.strategies import FOCUSES
from focused.topic.concept_files import concepts_of
from focused.topic.file import TopicFiles
from focused.topic.words import cut_by, words_of
from focused.topic_guide import GuideConfig, TopicGuide
from pipeline.engine import Engine
from pipeline.topic.keeping import ask_again, instructions_of, tell
from pipeline.topic.pages import PageReader, segmenter_of
from pipeline.topic.vectors import corpus_vectors

MAX_FROM_ARCHIVE, ARCHIVE_BATCH = 5_000, 100  # pages
CRAWL = "crawl"  # the origin of terms that came up while crawling
Make = Callable[[TopicWords, Given], FocusedStrategy]

# Those that take what the operator has beside the topic.
INFORMED: Mapping[str, Make] = {
    "semantic": Semantic,
    "semantic_tree": SemanticTree,
    "static_keywords": StaticKeywords,
    "vsm": Vsm,
}


def settings_for(engine: Engine) -> CrawlSettings:
    """The settings of a crawl that looks for a topic, with the topic's seeds: those confirmed, which widen the scope,
    and the example pages that lie in it. SettingsError for settings that cannot be followed."""
    settings = engine.settings.crawl
    topic = TopicFiles(engine.settings.data_dir).read(settings.topic)
    confirmed = tuple(seed.url for seed in topic.seeds if seed.state is TopicState.CONFIRMED)
    examples = tuple(page.url for page in topic.examples)
    seeds = (*settings.seeds, *confirmed) or examples
    plan = plan_of(replace(settings, seeds=seeds))
    found = (url for url in map(canonical, examples) if not isinstance(url, Reason))
    inside = (url for url in found if refuse(url, plan.rules) is None)
    scope = settings.scope or tuple(dict.fromkeys(map(host_of, plan.seeds)))
    return replace(settings, seeds=tuple(dict.fromkeys((*seeds, *inside))), scope=scope)


def guide_for(engine: Engine, settings: CrawlSettings) -> TopicGuide:
    """The guide of a crawl by the settings of `settings_for`, as it was when the last run ended.

    TopicError for a topic that is not there or whose file is not valid.
    """
    plan = plan_of(settings)
    engine.progress.note(f"the crawl looks for {settings.topic} by {plan.strategy}")
    guide = TopicGuide(means_of(engine, settings.topic, plan))
    table = engine.store.judgements
    guide.load(table.count)
    guide.listen()
    wanted = restored(engine, guide)
    teach_archive(engine, guide, plan)
    table.reprioritise({**dict.fromkeys(guide.means.first, SEED_PRIORITY), **guide.priorities})
    ask_again(engine, wanted)
    guide.save_if_due()
    tell(engine, settings.topic)
    return guide


def restored(engine: Engine, guide: TopicGuide) -> list[str]:
    """Bring a guide to where the store is: `restore` of the pages after its state, or of a sample of them."""
    table = engine.store.judgements
    behind, since = table.count() - guide.state.pages, guide.seq
    sample = guide.sample(behind)
    with engine.progress.task("topic", behind) as advance:
        if sample != WHOLE:
            guide.take_as_judged(table.scores(since, sample), advance)
        return guide.restore(table.all(since, sample), advance)


def teach_archive(engine: Engine, guide: TopicGuide, plan: CrawlPlan) -> None:
    """Show the strategy what was crawled before there was a topic: the newest pages of the archive, seeds first."""
    table = engine.store.judgements
    found = sorted(table.unread(MAX_FROM_ARCHIVE), key=lambda page: page.url not in guide.means.first)
    with engine.progress.task("archive", len(found)) as advance:
        for batch in batched(found, ARCHIVE_BATCH):
            table.record([one for page in batch if (one := from_archive(engine, guide, plan, page)) is not None])
            advance(len(batch))


def from_archive(
    engine: Engine, guide: TopicGuide, plan: CrawlPlan, page: PendingPage
) -> tuple[int, PageDecision] | None:
    """What the guide makes of a page of the archive; None where its bytes are lost."""
    try:
        body = engine.store.articles.read_page(page)
    except LostPageError:
        return None
    kind, name = page.content_type, format_of_type(page.content_type)
    whole = Page(page.url_id, page.url, page.url, 200, kind, body, page.digest, page.fetched_at, format=name)
    links = [link for link in links_of(whole).links if refuse(link.url, plan.rules) is None]
    given = guide.judge(guide.read(whole, links), {link.url: link.anchor for link in links})
    return page.url_id, replace(given, strategy=BREADTH_FIRST)  # which fetched it


def means_of(engine: Engine, name: str, plan: CrawlPlan) -> GuideConfig:
    """What the guide of a crawl for the topic `name` is made of. TopicError for a topic that cannot be read."""
    files = TopicFiles(engine.settings.data_dir)
    topic = files.read(name)
    cut = cut_by(segmenter_of(engine.store.lexicon.latest(), (term.text for term in topic.terms)))
    words, first = topic_words(topic, cut), frozenset(plan.seeds)
    given = Given() if plan.strategy == "fused" else given_by(engine, topic, cut)  # it looks at the topic alone
    rests_on = (plan.strategy, topic.name, words, topic.automatic, sorted(first), code_version())
    beside = () if plan.strategy == "fused" else (topic.tree, digests_of(engine, given))
    key = hashlib.sha256(repr((rests_on, beside)).encode("utf-8", "surrogatepass")).digest()
    reader = PageReader(engine.settings.extract)
    held = (words, given, given.vectors, given.concepts, given.tree)
    return GuideConfig(
        strategy=plan.strategy,
        topic=topic.name,
        focus=made(plan.strategy, words, given, topic.automatic),
        read=lambda page: words_of(reader.read(page), cut),
        cut=cut,
        first=first,
        examples=frozenset(page.url for page in words.examples),
        taught=tuple(page for page in words.examples if page.url not in first),
        known=frozenset((*words.name, *(word for term in topic.terms for word in (term.text, *cut(term.text))))),
        propose=lambda new: add_proposals(files, topic.name, new),
        instructions=partial(instructions_of, engine, topic.name),
        snapshot=Snapshot(state_file(engine.settings.data_dir), key, held),
        close=reader.close,
    )


def state_file(data_dir: Path) -> Path:
    """Where the state of a focused crawl lies."""
    return data_dir / "topics" / "guide.state"


def digests_of(engine: Engine, given: Given) -> list[str]:
    """What tells vectors and files of concepts from others."""
    files = [engine.settings.folder / name for name in engine.settings.crawl.concepts]
    parts = [path.read_bytes() for path in files if path.is_file()]
    if given.vectors is not None:
        parts += ["\n".join(given.vectors.places).encode("utf-8", "surrogatepass"), given.vectors.rows.tobytes()]
    return [hashlib.sha256(part).hexdigest() for part in parts]


def made(strategy: str, topic: TopicWords, given: Given, automatic: bool) -> FocusedStrategy:
    """The strategy of a name, with all that it can use; `fused` looks at the topic alone."""
    if strategy == "fused":
        return FOCUSES[strategy](topic)
    if strategy == "topic_library":
        return TopicLibrary(topic, given, LibrarySettings(automatic=automatic))
    return INFORMED[strategy](topic, given)


def topic_words(topic: Topic, cut: Cut) -> TopicWords:
    """The topic as a strategy knows it: confirmed terms only."""

    def words(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(word for text in texts for word in cut(text)))

    return TopicWords(
        name=words(topic.words),
        examples=tuple(words_of(page, cut) for page in topic.examples if page.title or page.blocks),
        professional=words(topic.confirmed(TopicTermClass.PROFESSIONAL)),
        subject=words(topic.confirmed(TopicTermClass.SUBJECT)),
        judgement=words(topic.confirmed(TopicTermClass.JUDGEMENT)),
    )


def given_by(engine: Engine, topic: Topic, cut: Cut) -> Given:
    """The vectors of the vertical's articles, where there are enough; the operator's concepts and tree."""
    files = [engine.settings.folder / name for name in engine.settings.crawl.concepts]
    tree = tree_of(topic.tree) if topic.tree else None
    return Given(vectors=corpus_vectors(engine, cut), concepts=concepts_of(files), tree=tree)


def add_proposals(files: TopicFiles, name: str, words: Sequence[str]) -> None:
    """Terms that kept pages share: for the operator to judge, or in automatic mode to count from the next run on."""

    def grown(topic: Topic) -> Topic:
        state = TopicState.CONFIRMED if topic.automatic else TopicState.PROPOSED
        evidence = "shared by the pages kept of late"
        return topic.with_terms(TopicTerm(word, state=state, origin=CRAWL, evidence=evidence) for word in words)

    files.change(name, grown)
