"""What an operator does with topics: define one, have terms and seeds proposed, decide on them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from docstore.errors import PlumblineError, TopicError
from docstore.topic import ExamplePage, Topic, TopicState, TopicTermClass
from focused.topic.concept_loader import load_concepts
from focused.topic.term_decisions import operator_terms
from focused.topic.term_proposals import (
    PROPOSALS_PER_TERM,
    RESULTS_PER_SEARCH,
    SearchFunction,
    SearchSource,
    TopicProposals,
    propose_from_concepts,
    propose_from_search,
)
from focused.topic.tokenizing import make_tokenizer
from focused.topic.topic_file_store import TopicFileStore
from pipeline.engine import Engine
from pipeline.page_source import LoadedPage, canonical_url, fetch_page, load_stored_page
from pipeline.topic.example_search import index_search, loaded_page_to_example, template_search
from pipeline.topic.page_reader import create_topic_segmenter


@dataclass(frozen=True)
class TopicDefinition:
    """What is known of a topic that is to be made. `search_template` is a search site's URL with {query} in it, or ""."""

    name: str
    terms: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    tree: tuple[str, ...] = ()
    automatic: bool = False
    search_template: str = ""
    max_results: int = RESULTS_PER_SEARCH
    max_terms: int = PROPOSALS_PER_TERM


def create_topic(engine: Engine, definition: TopicDefinition) -> Topic:
    """Make a topic with its library proposed. TopicError, and no file, where something about it is wrong."""
    files = TopicFileStore(engine.settings.data_dir)
    if files.path_for(definition.name).exists():
        raise TopicError(f"there is a topic {definition.name} already: plumb topic show {definition.name!r}")
    topic = Topic(
        name=definition.name,
        words=definition.words or (definition.name,),
        terms=tuple(operator_terms(definition.terms, TopicTermClass.PROFESSIONAL)),
        examples=read_examples(engine, definition.examples),
        term_tree=definition.tree,
        counts_unconfirmed_terms=definition.automatic,
    )
    proposals = collect_proposals(
        engine, topic, definition.search_template, definition.max_results, definition.max_terms
    )
    topic = topic.with_terms(proposals.terms).with_seeds(proposals.seeds)
    files.create(topic)
    return topic


def propose_more(engine: Engine, name: str, template: str, results: int, top: int) -> tuple[Topic, int]:
    """Look once more for terms and seeds, from the terms confirmed by now. The topic, and how many are new."""
    files = TopicFileStore(engine.settings.data_dir)
    before = files.read(name)
    proposals = collect_proposals(engine, before, template, results, top)
    after = files.update(name, lambda topic: topic.with_terms(proposals.terms).with_seeds(proposals.seeds))
    return after, after.pending_count() - before.pending_count()


def collect_proposals(engine: Engine, topic: Topic, template: str, results: int, top: int) -> TopicProposals:
    """Scheme 1 by the operator's concepts; scheme 2 by the own index, if anything is in it, or by a search site."""
    words = [term.text for term in topic.terms if term.state is TopicState.CONFIRMED] or list(topic.words)
    files = [engine.settings.folder / name for name in engine.settings.crawl.concepts]
    proposals = propose_from_concepts(words, load_concepts(files))
    search_source = choose_search(engine, template)
    if search_source is None:
        return proposals
    tokenize = make_tokenizer(create_topic_segmenter(engine.store.lexicons.load_latest(), words))
    with engine.progress.task("topic", len(words)) as advance:
        return proposals + propose_from_search(
            words, replace(search_source, search=with_progress(search_source.search, advance)), tokenize, results, top
        )


def choose_search(engine: Engine, template: str) -> SearchSource | None:
    """Where to search; None where there is nothing to search in."""
    if template:
        return template_search(engine, template)
    return index_search(engine) if engine.store.status.freshness().indexed_count else None


def with_progress(find: SearchFunction, advance: Callable[[int], None]) -> SearchFunction:
    """The same search, telling when a term is done."""

    def find_and_advance(term: str, limit: int) -> list[ExamplePage]:
        pages = list(find(term, limit))
        advance(1)
        return pages

    return find_and_advance


def read_examples(engine: Engine, urls: Sequence[str]) -> tuple[ExamplePage, ...]:
    """The example pages, from the store where it has them, else fetched as the crawl would. PlumblineError names one
    that cannot be had."""
    examples: list[ExamplePage] = []
    with engine.progress.task("examples", len(urls)) as advance:
        for url in dict.fromkeys(map(canonical_url, urls)):
            page = loaded_page_to_example(load_or_fetch(engine, url))
            if not page.blocks and not page.title:
                raise TopicError(f"{url} has no text: name another example")
            examples.append(replace(page, url=url))
            advance(1)
    return tuple(examples)


def load_or_fetch(engine: Engine, url: str) -> LoadedPage:
    """A page of the store, or of the web."""
    try:
        return load_stored_page(engine, url)
    except PlumblineError:
        return fetch_page(url, engine.settings.crawl)
