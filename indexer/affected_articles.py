"""Finds the articles that contain changed terms, because a new lexicon version may segment them differently.

A phrase query selects the articles to read. Their stored texts are then matched with the rule of the segmenter and of
the field `domain_terms` (`text.mixed_terms`), each term as a whole.
"""

from collections.abc import Collection, Iterable, Iterator

from docstore.store import Store
from domain.batches import batched
from indexer.solr_index import SolrIndex
from text.folding import normalize_text
from text.mixed_terms import TermFinder

LOOKUP_BATCH_SIZE = 500


def find_url_ids_containing(terms: Collection[str], store: Store, index: SolrIndex) -> set[int]:
    """Return the `url_id` of all articles whose title or body contains one of `terms`."""
    if not terms:
        return set()
    url_ids = find_url_ids_matching(terms, store, index)
    return set(iter_texts_containing(terms, store.articles.iter_plain_texts(sorted(url_ids))))


def find_url_ids_matching(terms: Collection[str], store: Store, index: SolrIndex) -> set[int]:
    """Return the `url_id` of all articles that may contain one of `terms`: Solr ignores punctuation."""
    return {
        url_id
        for doc_ids in batched(index.iter_ids_containing(sorted(terms)), LOOKUP_BATCH_SIZE)
        for url_id in store.articles.find_url_ids(doc_ids)
    }


def iter_texts_containing(terms: Iterable[str], texts: Iterable[tuple[int, str, str]]) -> Iterator[int]:
    """Yield the ids of `texts` (id, title, body) that contain one of `terms`.

    Takes about 0.1 ms for a text of two pages.
    """
    finder = TermFinder(terms)
    for url_id, title, body in texts:
        if finder.find_terms(normalize_text(f"{title}\n{body}")):
            yield url_id
