"""Topic commands of the administrator: create a topic and propose terms and seed URLs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from domain.errors import PlumblineError, TopicError
from domain.topic import ExamplePage, Topic, TopicState, TopicTermClass
from focused.concepts.loader import load_concepts
from focused.topic.term_decisions import operator_terms
from focused.topic.term_proposals import (
    PROPOSALS_PER_TERM,
    RESULTS_PER_SEARCH,
    SearchFunction,
    TopicProposals,
    propose_from_concepts,
    propose_from_search,
)
from focused.topic.tokenizing import make_tokenizer
from focused.topic.topic_file_store import TopicFileStore
from pipeline.engine import Engine
from pipeline.page_source import canonical_url, fetch_page, load_stored_page
from pipeline.topic.example_search import index_search, loaded_page_to_example, template_search
from pipeline.topic.page_reader import create_topic_segmenter


@dataclass(frozen=True)
class TopicDefinition:
    """Input for a new topic. `search_template` is the URL of a search site with {query} in it, or ""."""

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
    """Create a topic with proposed terms and seed URLs.

    Raises TopicError, and writes no file, if the input is not valid.
    """
    files = TopicFileStore(engine.settings.data_dir)
    if files.path_for(definition.name).exists():
        raise TopicError(f"the topic {definition.name} already exists: plumb topic show {definition.name!r}")
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


def propose_more(engine: Engine, name: str, template: str, max_results: int, max_terms: int) -> tuple[Topic, int]:
    """Propose more terms and seed URLs, based on the confirmed terms.

    Returns the topic and the number of new proposals.
    """
    files = TopicFileStore(engine.settings.data_dir)
    old_topic = files.read(name)
    proposals = collect_proposals(engine, old_topic, template, max_results, max_terms)
    new_topic = files.update(name, lambda topic: topic.with_terms(proposals.terms).with_seeds(proposals.seeds))
    return new_topic, new_topic.pending_count() - old_topic.pending_count()


def collect_proposals(engine: Engine, topic: Topic, template: str, max_results: int, max_terms: int) -> TopicProposals:
    """Propose words for a topic from the administrator's concept files and from search results.

    These are schemes 1 and 2 of Wu Yueting 2015. They start from the confirmed words of the topic, or from its initial
    words if none is confirmed.

    Args:
        template: URL template of a search engine; "": search the vertical's own index if it has documents.
        max_results: Results read per word.
        max_terms: Words proposed per word.
    """
    words = [term.text for term in topic.terms if term.state is TopicState.CONFIRMED] or list(topic.words)
    files = [engine.settings.folder / name for name in engine.settings.crawl.concepts]
    proposals = propose_from_concepts(words, load_concepts(files))
    if not template and not engine.store.status.freshness().indexed_count:
        return proposals
    search_source = template_search(engine, template) if template else index_search(engine)
    tokenize = make_tokenizer(create_topic_segmenter(engine.store.lexicons.load_latest(), words))
    with engine.progress.task("topic", len(words)) as advance:
        return proposals + propose_from_search(
            words,
            replace(search_source, search=with_progress(search_source.search, advance)),
            tokenize,
            max_results,
            max_terms,
        )


def with_progress(search: SearchFunction, advance: Callable[[int], None]) -> SearchFunction:
    """Wrap a search function to advance the progress after each term."""

    def search_and_advance(term: str, limit: int) -> list[ExamplePage]:
        pages = list(search(term, limit))
        advance(1)
        return pages

    return search_and_advance


def read_examples(engine: Engine, urls: Sequence[str]) -> tuple[ExamplePage, ...]:
    """Read the example pages from the store, or fetch them as the crawl would.

    Raises PlumblineError for a page that is not available or has no text.
    """
    examples: list[ExamplePage] = []
    with engine.progress.task("examples", len(urls)) as advance:
        for url in dict.fromkeys(map(canonical_url, urls)):
            try:
                loaded_page = load_stored_page(engine, url)
            except PlumblineError:
                loaded_page = fetch_page(url, engine.settings.crawl)
            page = loaded_page_to_example(loaded_page, engine)
            if not page.blocks and not page.title:
                raise TopicError(f"{url} has no text: choose another example")
            examples.append(replace(page, url=url))
            advance(1)
    return tuple(examples)
