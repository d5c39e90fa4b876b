"""Finds relations between published terms in articles, after the lexicon update of a run, for reviewers to decide on.

Each run searches changed articles for the relations of all terms, and all articles for those of the terms that are new
in the lexicon.
"""

import time
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from domain.batches import batched
from domain.message import Message
from domain.term_relation import RelationProposal, TermRelation
from lexicon.definitions import iter_sentences
from lexicon.relations import RelationFinder
from pipeline.lexicon_stage.definitions import ARTICLES_PER_READ, MAX_BODY_CHARS, OVERLAP_SECONDS

if TYPE_CHECKING:
    from docstore.store import Store


def propose_relations(store: "Store") -> tuple[str, ...]:
    """Search for relations between the published terms and store them as proposals.

    Returns:
        Notes for the report of the stage.
    """
    lexicon, started_at = store.lexicons.load_latest(), time.time()
    searched_version, searched_until = store.relations.search_state()
    terms = {entry.text for entry in lexicon.entries}
    if not terms:
        return ()
    new_terms = terms - {entry.text for entry in store.lexicons.load_version(searched_version).entries}
    changed_ids = list(store.articles.iter_ids_extracted_since(searched_until - OVERLAP_SECONDS))
    url_ids = [url_id for url_id, _ in store.articles.iter_digests()] if new_terms else changed_ids
    relations = _search(store, terms, url_ids)
    proposals = list(_build_proposals(store, relations, started_at))
    lost_proposals = _find_lost_proposals(store, changed_ids)
    count = store.relations.save(proposals, lost_proposals, lexicon.version, started_at)
    return (
        (Message("1 new relation between terms to review", "{n} new relations between terms to review", n=count),)
        if count
        else ()
    )


def _search(store: "Store", terms: Collection[str], url_ids: Sequence[int]) -> list[tuple[TermRelation, int]]:
    """Return the relations that articles show, each once with its best sentence and the id of the article."""
    finder, best = RelationFinder(terms), dict[tuple[str, str, str], tuple[TermRelation, int]]()
    for batch in batched(url_ids, ARTICLES_PER_READ):
        for url_id, _, body in store.articles.iter_plain_texts(batch):
            for sentence in iter_sentences(body[:MAX_BODY_CHARS]):
                for relation in finder.find(sentence):
                    key = (relation.kind, relation.term, relation.other)
                    if key not in best or best[key][0].score < relation.score:
                        best[key] = relation, url_id
    return list(best.values())


def _build_proposals(
    store: "Store", relations: Sequence[tuple[TermRelation, int]], found_at: float
) -> Iterator[RelationProposal]:
    for batch in batched(relations, ARTICLES_PER_READ):
        articles = store.articles.load_by_url_ids([url_id for _, url_id in batch])
        for relation, url_id in batch:
            if url_id in articles:
                article = articles[url_id].article
                yield RelationProposal(relation, url_id, article.url, article.title, found_at)


def _find_lost_proposals(store: "Store", changed_ids: Sequence[int]) -> list[RelationProposal]:
    """Return the open proposals whose articles do not contain the sentence any more."""
    open_proposals = list(store.relations.iter_open_by_articles(changed_ids))
    bodies = {
        url_id: body for url_id, _, body in store.articles.iter_plain_texts([row.url_id for row in open_proposals])
    }
    # Earlier versions stored a sentence of a parallel page too, as a second line.
    return [row for row in open_proposals if row.relation.evidence.split("\n")[0] not in bodies.get(row.url_id, "")]
