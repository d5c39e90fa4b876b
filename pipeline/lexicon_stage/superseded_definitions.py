"""Finds superseded definitions: those with a newer edition of their standard or statute, or a newer article."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from domain.term import Definition, DefinitionKey, Successor
from lexicon.editions import Edition, iter_editions

if TYPE_CHECKING:
    from docstore.store import Store


class EditionSource(NamedTuple):
    """An edition, and the id of the article whose title names it."""

    edition: Edition
    url_id: int


def find_successors(store: "Store", definitions: Sequence[Definition]) -> dict[DefinitionKey, Successor]:
    """Return what supersedes those of `definitions` that are superseded.

    A definition belongs to the newest edition that the title of its article names, otherwise to the one that its
    sentence names. Titles of articles tell which editions the store has. Of a series, only an article of the same site
    counts that does not contain the sentence.
    """
    return _successors_in_series(store, definitions) | _newer_editions(store, definitions)


def _newer_editions(store: "Store", definitions: Sequence[Definition]) -> dict[DefinitionKey, Successor]:
    edition_by_key = {definition.key: edition for definition in definitions if (edition := find_edition(definition))}
    if not edition_by_key:
        return {}
    newest_by_work = find_newest_editions(store.articles.iter_titles())
    newer_by_key = {
        key: newest
        for key, edition in edition_by_key.items()
        if (newest := newest_by_work.get(edition.work)) and newest.edition.year > edition.year
    }
    articles = store.articles.load_by_url_ids(list({newest.url_id for newest in newer_by_key.values()}))
    return {
        key: Successor(newest.edition.name, articles[newest.url_id].article.url) for key, newest in newer_by_key.items()
    }


def find_edition(definition: Definition) -> Edition | None:
    """Return the edition from which a definition is; None if it is from no standard and no statute with a year."""
    for text in (definition.title, definition.sentence):
        if editions := list(iter_editions(text)):
            return max(editions, key=lambda edition: edition.year)
    return None


def find_newest_editions(titles: Iterable[tuple[int, str]]) -> dict[str, EditionSource]:
    """Return the newest edition of each work that titles name.

    Args:
        titles: Ids and titles of articles.
    """
    newest_by_work: dict[str, EditionSource] = {}
    for url_id, title in titles:
        for edition in iter_editions(title):
            newest = newest_by_work.get(edition.work)
            if newest is None or newest.edition.year < edition.year:
                newest_by_work[edition.work] = EditionSource(edition, url_id)
    return newest_by_work


def _successors_in_series(store: "Store", definitions: Sequence[Definition]) -> dict[DefinitionKey, Successor]:
    newer_ids = store.articles.find_newer_in_series({definition.url_id for definition in definitions})
    bodies = {url_id: body for url_id, _, body in store.articles.iter_plain_texts(sorted(set(newer_ids.values())))}
    articles = store.articles.load_by_url_ids(list(bodies))
    successors = {}
    for definition in definitions:
        newer_id = newer_ids.get(definition.url_id, 0)
        if newer_id in bodies and definition.sentence not in bodies[newer_id]:
            article = articles[newer_id].article
            successors[definition.key] = Successor(article.title, article.url)
    return successors
