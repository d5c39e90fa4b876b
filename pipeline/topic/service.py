"""What an operator does with topics: define one, have terms and seeds proposed, decide on them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from docstore.errors import PlumblineError, TopicError
from docstore.topics import ExamplePage, Topic, TopicState, TopicTermClass
from focused.topic.concept_files import concepts_of
from focused.topic.confirmation import own_terms
from focused.topic.file import TopicFiles
from focused.topic.library import RESULTS, TOP, Find, SearchPlace, TopicProposals, by_concepts, by_search
from focused.topic.words import cut_by
from pipeline.engine import Engine
from pipeline.page_source import SourcePage, address_of, fetch_page, page_in_store
from pipeline.topic.pages import segmenter_of
from pipeline.topic.search import by_template, example_from, in_index


@dataclass(frozen=True)
class Wanted:
    """What is known of a topic that is to be made. `template` is a search site's URL with {query} in it, or ""."""

    name: str
    terms: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    tree: tuple[str, ...] = ()
    automatic: bool = False
    template: str = ""
    results: int = RESULTS
    top: int = TOP


def define(engine: Engine, wanted: Wanted) -> Topic:
    """Make a topic with its library proposed. TopicError, and no file, where something about it is wrong."""
    files = TopicFiles(engine.settings.data_dir)
    if files.path(wanted.name).exists():
        raise TopicError(f"there is a topic {wanted.name} already: plumb topic show {wanted.name!r}")
    topic = Topic(
        name=wanted.name,
        words=wanted.words or (wanted.name,),
        terms=tuple(own_terms(wanted.terms, TopicTermClass.PROFESSIONAL)),
        examples=read_examples(engine, wanted.examples),
        tree=wanted.tree,
        automatic=wanted.automatic,
    )
    found = proposals(engine, topic, wanted.template, wanted.results, wanted.top)
    topic = topic.with_terms(found.terms).with_seeds(found.seeds)
    files.create(topic)
    return topic


def propose(engine: Engine, name: str, template: str, results: int, top: int) -> tuple[Topic, int]:
    """Look once more for terms and seeds, from the terms confirmed by now. The topic, and how many are new."""
    files = TopicFiles(engine.settings.data_dir)
    before = files.read(name)
    found = proposals(engine, before, template, results, top)
    after = files.change(name, lambda topic: topic.with_terms(found.terms).with_seeds(found.seeds))
    return after, after.waiting() - before.waiting()


def proposals(engine: Engine, topic: Topic, template: str, results: int, top: int) -> TopicProposals:
    """Scheme 1 by the operator's concepts; scheme 2 by the own index, if anything is in it, or by a search site."""
    words = [term.text for term in topic.terms if term.state is TopicState.CONFIRMED] or list(topic.words)
    files = [engine.settings.folder / name for name in engine.settings.crawl.concepts]
    found = by_concepts(words, concepts_of(files))
    place = search_place(engine, template)
    if place is None:
        return found
    cut = cut_by(segmenter_of(engine.store.lexicon.latest(), words))
    with engine.progress.task("topic", len(words)) as advance:
        return found + by_search(words, replace(place, find=counted(place.find, advance)), cut, results, top)


def search_place(engine: Engine, template: str) -> SearchPlace | None:
    """Where to search; None where there is nothing to search in."""
    if template:
        return by_template(engine, template)
    return in_index(engine) if engine.store.status.freshness().indexed else None


def counted(find: Find, advance: Callable[[int], None]) -> Find:
    """The same search, telling when a term is done."""

    def told(term: str, most: int) -> list[ExamplePage]:
        pages = list(find(term, most))
        advance(1)
        return pages

    return told


def read_examples(engine: Engine, urls: Sequence[str]) -> tuple[ExamplePage, ...]:
    """The example pages, from the store where it has them, else fetched as the crawl would. PlumblineError names one
    that cannot be had."""
    found: list[ExamplePage] = []
    with engine.progress.task("examples", len(urls)) as advance:
        for url in dict.fromkeys(map(address_of, urls)):
            page = example_from(kept_or_fetched(engine, url))
            if not page.blocks and not page.title:
                raise TopicError(f"{url} has no text: name another example")
            found.append(replace(page, url=url))
            advance(1)
    return tuple(found)


def kept_or_fetched(engine: Engine, url: str) -> SourcePage:
    """A page of the store, or of the web."""
    try:
        return page_in_store(engine, url)
    except PlumblineError:
        return fetch_page(url, engine.settings.crawl)
