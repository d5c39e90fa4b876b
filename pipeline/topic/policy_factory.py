"""A crawl that looks for a topic, put together: the topic's file, the strategy by name, pages as words.

At the start the guide is as the last run left it (focused/state_snapshot.py); where that cannot be had, because topic,
strategy or program are others, the strategy is shown again what the store has of earlier runs. Then the priorities of
all URLs that wait are what it says now. A topic or strategy that has changed thus takes effect on the whole frontier,
and pages that were not kept and now would be are asked again.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from crawler.crawl_plan import CrawlPlan, build_crawl_plan
from crawler.focused_policy import FOCUSED_SEED_PRIORITY, FocusedStrategy, TopicWords, WordTokenizer
from crawler.parsing.links import parse_page
from crawler.settings import BREADTH_FIRST, CrawlSettings
from crawler.urls.canonical import canonicalize_url, host_of, rejection_reason
from docstore.articles.article_table import WarcRecordLostError
from docstore.articles.extraction_writer import PendingPage
from docstore.batches import batched
from docstore.file_formats import format_for_content_type
from docstore.frontier.focused_decisions import ALL_DECISIONS, FocusedDecision
from docstore.model import Page, Reason
from docstore.topic import Topic, TopicState, TopicTerm, TopicTermClass
from focused.paper_strategies.semantic import SemanticStrategy
from focused.paper_strategies.semantic_tree import SemanticTreeStrategy, VectorSpaceStrategy
from focused.paper_strategies.topic_knowledge import OperatorResources
from focused.paper_strategies.topic_library import StaticKeywordsStrategy, TopicLibrarySettings, TopicLibraryStrategy
from focused.paper_strategies.topic_tree import parse_tree
from focused.state_snapshot import StateSnapshot, code_digest
from focused.strategy_registry import STRATEGIES
from focused.topic.concept_loader import load_concepts
from focused.topic.tokenizing import make_tokenizer, tokenize_example
from focused.topic.topic_file_store import TopicFileStore
from focused.topic_policy import TopicPolicy, TopicPolicyConfig
from pipeline.engine import Engine
from pipeline.topic.corpus_vectors import corpus_vectors
from pipeline.topic.page_reader import PageReader, create_topic_segmenter
from pipeline.topic.retention import load_instructions, report_coverage, reschedule_refetch

MAX_ARCHIVE_PAGES, ARCHIVE_BATCH_SIZE = 5_000, 100  # pages
CRAWL_ORIGIN = "crawl"  # the origin of terms that came up while crawling
CreateStrategy = Callable[[TopicWords, OperatorResources], FocusedStrategy]

# Those that take what the operator has beside the topic.
STRATEGIES_WITH_RESOURCES: Mapping[str, CreateStrategy] = {
    "semantic": SemanticStrategy,
    "semantic_tree": SemanticTreeStrategy,
    "static_keywords": StaticKeywordsStrategy,
    "vsm": VectorSpaceStrategy,
}


def focused_crawl_settings(engine: Engine) -> CrawlSettings:
    """The settings of a crawl that looks for a topic, with the topic's seeds: those confirmed, which widen the scope,
    and the example pages that lie in it. SettingsError for settings that cannot be followed."""
    settings = engine.settings.crawl
    topic = TopicFileStore(engine.settings.data_dir).read(settings.topic)
    confirmed_seeds = tuple(seed.url for seed in topic.seeds if seed.state is TopicState.CONFIRMED)
    examples = tuple(page.url for page in topic.examples)
    seeds = (*settings.seeds, *confirmed_seeds) or examples
    plan = build_crawl_plan(replace(settings, seeds=seeds))
    canonical_examples = (url for url in map(canonicalize_url, examples) if not isinstance(url, Reason))
    in_scope_examples = (url for url in canonical_examples if rejection_reason(url, plan.url_rules) is None)
    scope = settings.scope or tuple(dict.fromkeys(map(host_of, plan.seeds)))
    return replace(settings, seeds=tuple(dict.fromkeys((*seeds, *in_scope_examples))), scope=scope)


def create_policy(engine: Engine, settings: CrawlSettings) -> TopicPolicy:
    """The guide of a crawl by the settings of `focused_crawl_settings`, as it was when the last run ended.

    TopicError for a topic that is not there or whose file is not valid.
    """
    plan = build_crawl_plan(settings)
    engine.progress.note(f"the crawl looks for {settings.topic} by {plan.strategy}")
    policy = TopicPolicy(policy_config(engine, settings.topic, plan))
    table = engine.store.focused_decisions
    policy.load_snapshot(table.count)
    policy.refresh_instructions()
    refetch_urls = restore_policy(engine, policy)
    train_on_archive(engine, policy, plan)
    table.update_priorities({**dict.fromkeys(policy.config.seed_urls, FOCUSED_SEED_PRIORITY), **policy.priority_by_url})
    reschedule_refetch(engine, refetch_urls)
    policy.save_snapshot_if_due()
    report_coverage(engine, settings.topic)
    return policy


def restore_policy(engine: Engine, policy: TopicPolicy) -> list[str]:
    """Bring a guide to where the store is: `restore` of the pages after its state, or of a sample of them."""
    table = engine.store.focused_decisions
    pages_behind, last_seq = table.count() - policy.state.page_count, policy.next_seq
    sample = policy.replay_sample(pages_behind)
    with engine.progress.task("topic", pages_behind) as advance:
        if sample != ALL_DECISIONS:
            policy.restore_scores(table.iter_unsampled_scores(last_seq, sample), advance)
        return policy.replay(table.iter_decisions(last_seq, sample), advance)


def train_on_archive(engine: Engine, policy: TopicPolicy, plan: CrawlPlan) -> None:
    """Show the strategy what was crawled before there was a topic: the newest pages of the archive, seeds first."""
    table = engine.store.focused_decisions
    archived_pages = sorted(
        table.undecided_pages(MAX_ARCHIVE_PAGES), key=lambda page: page.url not in policy.config.seed_urls
    )
    with engine.progress.task("archive", len(archived_pages)) as advance:
        for batch in batched(archived_pages, ARCHIVE_BATCH_SIZE):
            table.save(
                [
                    decision
                    for page in batch
                    if (decision := decide_archived_page(engine, policy, plan, page)) is not None
                ]
            )
            advance(len(batch))


def decide_archived_page(
    engine: Engine, policy: TopicPolicy, plan: CrawlPlan, page: PendingPage
) -> tuple[int, FocusedDecision] | None:
    """What the guide makes of a page of the archive; None where its bytes are lost."""
    try:
        body = engine.store.articles.read_page_body(page)
    except WarcRecordLostError:
        return None
    content_type, name = page.content_type, format_for_content_type(page.content_type)
    fetched_page = Page(
        page.url_id, page.url, page.url, 200, content_type, body, page.digest, page.fetched_at, format=name
    )
    links = [link for link in parse_page(fetched_page).links if rejection_reason(link.url, plan.url_rules) is None]
    decision = policy.decide(policy.tokenize_page(fetched_page, links), {link.url: link.anchor for link in links})
    return page.url_id, replace(decision, strategy=BREADTH_FIRST)  # which fetched it


def policy_config(engine: Engine, name: str, plan: CrawlPlan) -> TopicPolicyConfig:
    """What the guide of a crawl for the topic `name` is made of. TopicError for a topic that cannot be read."""
    files = TopicFileStore(engine.settings.data_dir)
    topic = files.read(name)
    tokenize = make_tokenizer(
        create_topic_segmenter(engine.store.lexicons.load_latest(), (term.text for term in topic.terms))
    )
    words, seed_urls = topic_words(topic, tokenize), frozenset(plan.seeds)
    resources = (
        OperatorResources() if plan.strategy == "fused" else load_resources(engine, topic, tokenize)
    )  # it looks at the topic alone
    key_parts = (plan.strategy, topic.name, words, topic.counts_unconfirmed_terms, sorted(seed_urls), code_digest())
    resource_key_parts = () if plan.strategy == "fused" else (topic.term_tree, resource_digests(engine, resources))
    key = hashlib.sha256(repr((key_parts, resource_key_parts)).encode("utf-8", "surrogatepass")).digest()
    reader = PageReader(engine.settings.extract)
    state_objects = (words, resources, resources.vectors, resources.concepts, resources.tree)
    return TopicPolicyConfig(
        strategy_name=plan.strategy,
        topic_name=topic.name,
        strategy=create_strategy(plan.strategy, words, resources, topic.counts_unconfirmed_terms),
        tokenize_page=lambda page: tokenize_example(reader.read(page), tokenize),
        tokenize=tokenize,
        seed_urls=seed_urls,
        example_urls=frozenset(page.url for page in words.examples),
        unfetchable_examples=tuple(page for page in words.examples if page.url not in seed_urls),
        known_words=frozenset(
            (*words.name, *(word for term in topic.terms for word in (term.text, *tokenize(term.text))))
        ),
        propose_terms=lambda new: add_proposals(files, topic.name, new),
        read_instructions=partial(load_instructions, engine, topic.name),
        snapshot=StateSnapshot(policy_state_path(engine.settings.data_dir), key, state_objects),
        close=reader.close,
    )


def policy_state_path(data_dir: Path) -> Path:
    """Where the state of a focused crawl lies."""
    return data_dir / "topics" / "guide.state"


def resource_digests(engine: Engine, resources: OperatorResources) -> list[str]:
    """What tells vectors and files of concepts from others."""
    files = [engine.settings.folder / name for name in engine.settings.crawl.concepts]
    parts = [path.read_bytes() for path in files if path.is_file()]
    if resources.vectors is not None:
        parts += [
            "\n".join(resources.vectors.row_by_word).encode("utf-8", "surrogatepass"),
            resources.vectors.matrix.tobytes(),
        ]
    return [hashlib.sha256(part).hexdigest() for part in parts]


def create_strategy(strategy: str, topic: TopicWords, resources: OperatorResources, automatic: bool) -> FocusedStrategy:
    """The strategy of a name, with all that it can use; `fused` looks at the topic alone."""
    if strategy == "fused":
        return STRATEGIES[strategy](topic)
    if strategy == "topic_library":
        return TopicLibraryStrategy(topic, resources, TopicLibrarySettings(extend_automatically=automatic))
    return STRATEGIES_WITH_RESOURCES[strategy](topic, resources)


def topic_words(topic: Topic, tokenize: WordTokenizer) -> TopicWords:
    """The topic as a strategy knows it: confirmed terms only."""

    def words(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(word for text in texts for word in tokenize(text)))

    return TopicWords(
        name=words(topic.words),
        examples=tuple(tokenize_example(page, tokenize) for page in topic.examples if page.title or page.blocks),
        technical=words(topic.confirmed_terms(TopicTermClass.PROFESSIONAL)),
        subject=words(topic.confirmed_terms(TopicTermClass.SUBJECT)),
        evaluative=words(topic.confirmed_terms(TopicTermClass.JUDGEMENT)),
    )


def load_resources(engine: Engine, topic: Topic, tokenize: WordTokenizer) -> OperatorResources:
    """The vectors of the vertical's articles, where there are enough; the operator's concepts and tree."""
    files = [engine.settings.folder / name for name in engine.settings.crawl.concepts]
    tree = parse_tree(topic.term_tree) if topic.term_tree else None
    return OperatorResources(vectors=corpus_vectors(engine, tokenize), concepts=load_concepts(files), tree=tree)


def add_proposals(files: TopicFileStore, name: str, words: Sequence[str]) -> None:
    """Terms that kept pages share: for the operator to judge, or in automatic mode to count from the next run on."""

    def add_terms(topic: Topic) -> Topic:
        state = TopicState.CONFIRMED if topic.counts_unconfirmed_terms else TopicState.PROPOSED
        evidence = "shared by the pages kept of late"
        return topic.with_terms(TopicTerm(word, state=state, origin=CRAWL_ORIGIN, evidence=evidence) for word in words)

    files.update(name, add_terms)
