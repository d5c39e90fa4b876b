"""Creates the policy of a focused crawl from the topic file, the strategy and the page reader.

At the start the policy is restored from the snapshot of the last run (focused/state_snapshot.py). If the topic, the
strategy or the program has changed, the snapshot is not valid, and the strategy replays the decisions in the store.
Then all URLs in the frontier get their current priorities. A change of topic or strategy therefore applies to the
complete frontier, and rejected pages that are now on topic are fetched again.
"""

import hashlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

from crawler.crawl_plan import CrawlPlan, build_crawl_plan
from crawler.focused_policy import FOCUSED_SEED_PRIORITY, FocusedStrategy, TopicWords, WordTokenizer
from crawler.settings import BREADTH_FIRST, CrawlSettings
from crawler.urls.canonical import canonicalize_url, rejection_reason
from docstore.articles.source_pages import ArchivedPage
from docstore.warc_archive import WarcRecordLostError
from domain.batches import batched
from domain.file_formats import format_for_content_type
from domain.focused_decision import ALL_DECISIONS, FocusedDecision
from domain.message import Message
from domain.outcome import Reason
from domain.page import Page
from domain.paper_settings import PaperSettings, WuYuetingSettings
from domain.topic import Topic, TopicState, TopicTerm, TopicTermClass
from focused.concepts.loader import load_concepts
from focused.paper_strategies.resource_files import read_word_vectors, read_word_weights
from focused.paper_strategies.topic_knowledge import OperatorResources
from focused.paper_strategies.topic_tree import parse_tree
from focused.state_snapshot import StateSnapshot, code_digest
from focused.strategy_registry import STRATEGIES
from focused.topic.tokenizing import make_tokenizer, tokenize_example
from focused.topic.topic_file_store import TopicFileStore
from focused.topic_policy import TopicPolicy, TopicPolicyConfig
from pipeline.engine import Engine
from pipeline.page_source import LinkReader
from pipeline.topic.corpus_vectors import corpus_vectors
from pipeline.topic.coverage import load_instructions, report_coverage, reschedule_refetch
from pipeline.topic.needs import topic_needs
from pipeline.topic.page_reader import PageReader, create_topic_segmenter

MAX_ARCHIVE_PAGES, ARCHIVE_BATCH_SIZE = 5_000, 100  # pages
CRAWL_ORIGIN = "crawl"  # origin of terms found during a crawl


def focused_crawl_settings(engine: Engine) -> CrawlSettings:
    """Return the crawl settings with the seed URLs of the topic added.

    The seeds are the confirmed seeds, which also extend the scope, and the example pages in the scope. Raises
    SettingsError for invalid settings.
    """
    settings = engine.settings.crawl
    topic = TopicFileStore(engine.settings.data_dir).read(settings.topic)
    confirmed_seeds = tuple(seed.url for seed in topic.seeds if seed.state is TopicState.CONFIRMED)
    example_urls = map(canonicalize_url, (page.url for page in topic.examples))
    examples = [url for url in example_urls if not isinstance(url, Reason)]
    sites = settings.sites.with_urls(confirmed_seeds)
    if not sites.seeds:
        sites = sites.with_urls(examples)
    plan = build_crawl_plan(replace(settings, sites=sites))
    in_scope_examples = (url for url in examples if rejection_reason(url, plan.url_rules) is None)
    return replace(settings, sites=sites.with_urls(in_scope_examples, scope=()))


def create_policy(engine: Engine, settings: CrawlSettings) -> TopicPolicy:
    """Create the policy of a focused crawl in the state at the end of the last run.

    `settings` come from `focused_crawl_settings`.

    Raises TopicError if the topic does not exist or its file is not valid.
    """
    plan = build_crawl_plan(settings)
    policy = TopicPolicy(policy_config(engine, settings.topic, plan))
    engine.progress.note(f"focused crawl for the topic {settings.topic}, strategy {policy.config.strategy_name}")
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
    """Replay the decisions after the snapshot, or a sample of them. Returns the URLs to fetch again."""
    table = engine.store.focused_decisions
    pages_behind, last_seq = table.count() - policy.state.page_count, policy.next_seq
    sample = policy.replay_sample(pages_behind)
    with engine.progress.task("topic", pages_behind) as advance:
        if sample != ALL_DECISIONS:
            policy.restore_scores(table.iter_unsampled_scores(last_seq, sample), advance)
        return policy.replay(table.iter_decisions(last_seq, sample), advance)


def train_on_archive(engine: Engine, policy: TopicPolicy, plan: CrawlPlan) -> None:
    """Show the strategy the pages that were crawled before the topic existed: the newest pages, seed URLs first."""
    table = engine.store.focused_decisions
    archived_pages = sorted(
        table.undecided_pages(MAX_ARCHIVE_PAGES), key=lambda page: page.url not in policy.config.seed_urls
    )
    with engine.progress.task("archive", len(archived_pages)) as advance, closing(LinkReader()) as reader:
        for batch in batched(archived_pages, ARCHIVE_BATCH_SIZE):
            table.save(
                [
                    decision
                    for page in batch
                    if (decision := decide_archived_page(engine, reader, policy, plan, page)) is not None
                ]
            )
            advance(len(batch))


def decide_archived_page(
    engine: Engine, reader: LinkReader, policy: TopicPolicy, plan: CrawlPlan, page: ArchivedPage
) -> tuple[int, FocusedDecision] | None:
    """Let the policy decide on an archived page; returns None if its bytes are lost."""
    try:
        body = engine.store.articles.read_page_body(page)
    except WarcRecordLostError:
        return None
    content_type, name = page.content_type, format_for_content_type(page.content_type)
    fetched_page = Page(
        page.url_id, page.url, page.url, 200, content_type, body, page.digest, page.fetched_at, format=name
    )
    links = [link for link in reader.read(fetched_page) if rejection_reason(link.url, plan.url_rules) is None]
    decision = policy.decide(policy.tokenize_page(fetched_page, links), {link.url: link.anchor for link in links})
    return page.url_id, replace(decision, strategy=BREADTH_FIRST)  # the strategy that fetched the page


def policy_config(engine: Engine, name: str, plan: CrawlPlan) -> TopicPolicyConfig:
    """Build the policy configuration for the topic `name`. Raises TopicError if the topic cannot be read."""
    files = TopicFileStore(engine.settings.data_dir)
    topic = files.read(name)
    tokenize = make_tokenizer(
        create_topic_segmenter(engine.store.lexicons.load_latest(), (term.text for term in topic.terms))
    )
    papers = engine.settings.papers
    words, seed_urls = topic_words(topic, tokenize, papers.wu_yueting), frozenset(plan.seeds)
    needs = topic_needs(engine.settings, topic, engine.store.articles.count())
    for message in needs.messages():
        engine.progress.note(message)
    strategy = needs.effective_strategy
    resources = (
        OperatorResources() if strategy == "fused" else load_resources(engine, topic, tokenize)
    )  # `fused` uses only the topic
    key_parts = (strategy, topic.name, words, topic.counts_unconfirmed_terms, sorted(seed_urls), code_digest(), papers)
    resource_key_parts = () if strategy == "fused" else (topic.term_tree, resource_digests(engine, resources))
    key = hashlib.sha256(repr((key_parts, resource_key_parts)).encode("utf-8", "surrogatepass")).digest()
    reader = PageReader(engine.settings.extract, papers.wu_yueting)
    state_objects = (words, resources, resources.vectors, resources.concepts, resources.tree)
    return TopicPolicyConfig(
        strategy_name=strategy,
        topic_name=topic.name,
        strategy=create_strategy(strategy, words, resources, topic.counts_unconfirmed_terms, papers),
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
        snapshot=StateSnapshot(engine.settings.data_dir / "topics" / "guide.state", key, state_objects),
        wu_yueting=papers.wu_yueting,
        close=reader.close,
    )


def resource_digests(engine: Engine, resources: OperatorResources) -> list[str]:
    """Return digests of the word vectors, the word weights and the concept files, to detect changes."""
    files = [engine.settings.folder / name for name in engine.settings.crawl.concepts]
    parts: list[bytes | memoryview] = [path.read_bytes() for path in files if path.is_file()]
    parts.append(repr(resources.word_weights).encode())
    if resources.vectors is not None:
        parts += [
            "\n".join(resources.vectors.row_by_word).encode("utf-8", "surrogatepass"),
            resources.vectors.matrix.data,
        ]
    return [hashlib.sha256(part).hexdigest() for part in parts]


def create_strategy(
    strategy: str, topic: TopicWords, resources: OperatorResources, automatic: bool, papers: PaperSettings
) -> FocusedStrategy:
    """Create a strategy by name, with the resources and constants it uses; `fused` uses only the topic."""
    match strategy:
        case "fused":
            return STRATEGIES[strategy](topic)
        case "semantic":
            return STRATEGIES[strategy](topic, resources, papers.zhou_kun)
        case "topic_library":
            return STRATEGIES[strategy](topic, resources, papers.wu_yueting, automatic)
        case "semantic_tree":
            return STRATEGIES[strategy](topic, resources, papers.zhang_jin)
    return STRATEGIES[strategy](topic, resources)


def topic_words(topic: Topic, tokenize: WordTokenizer, wu_yueting: WuYuetingSettings) -> TopicWords:
    """Convert a topic to the form that strategies use; contains only confirmed terms."""

    def words(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(word for text in texts for word in tokenize(text)))

    return TopicWords(
        name=words(topic.words),
        examples=tuple(tokenize_example(page, tokenize) for page in topic.examples if page.title or page.blocks),
        technical=words(topic.confirmed_terms(TopicTermClass.PROFESSIONAL)),
        subject=words(topic.confirmed_terms(TopicTermClass.SUBJECT)),
        evaluative=words(topic.confirmed_terms(TopicTermClass.JUDGEMENT)),
        class_weights=wu_yueting.class_weights,
    )


def load_resources(engine: Engine, topic: Topic, tokenize: WordTokenizer) -> OperatorResources:
    """Load word vectors, concepts, the term tree and word weights.

    The vectors come from the administrator's file, otherwise they are trained on the articles if there are enough.
    Raises SettingsError if a file of the administrator is not valid.
    """
    folder, papers = engine.settings.folder, engine.settings.papers
    weight_file, note = papers.zhou_kun.word_weights, engine.progress.note
    return OperatorResources(
        vectors=read_word_vectors(folder / papers.vectors, note)
        if papers.vectors
        else corpus_vectors(engine, tokenize),
        concepts=load_concepts([folder / name for name in engine.settings.crawl.concepts]),
        tree=parse_tree(topic.term_tree) if topic.term_tree else None,
        word_weights=read_word_weights(folder / weight_file) if weight_file else {},
    )


def add_proposals(files: TopicFileStore, name: str, words: Sequence[str]) -> None:
    """Add terms that retained pages share: as proposals, or in automatic mode as confirmed terms for the next run."""

    def add_terms(topic: Topic) -> Topic:
        state = TopicState.CONFIRMED if topic.counts_unconfirmed_terms else TopicState.PROPOSED
        evidence = Message("Shared by recently retained pages")
        return topic.with_terms(TopicTerm(word, state=state, origin=CRAWL_ORIGIN, evidence=evidence) for word in words)

    files.update(name, add_terms)
