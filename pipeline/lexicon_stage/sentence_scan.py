"""Finds what sentences of articles say about published terms: definitions, relations, and evidence of related terms.

Changed articles are searched for all terms, and all articles for the terms that are new in the lexicon. Each article is
read, cut into sentences and matched with the terms once for all finders. After a kill, the next run searches again and
stores nothing twice.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from domain.batches import batched
from domain.errors import SolrError
from domain.message import Message, error_message
from domain.outcome import Stage, StageReport
from domain.progress import ProgressTask, no_progress, track
from domain.term import RELATED_TERMS_STEP, SENTENCES_STEP, Definition, DefinitionSource
from domain.term_relation import RelationProposal
from indexer.affected_articles import find_url_ids_matching
from lexicon.definitions import DefinitionFinder, rescore_definitions
from lexicon.relations import RelationFinder, index_terms
from lexicon.sentences import match_sentences
from pipeline.lexicon_stage.related_terms import RelatedTermFinder
from text.mixed_terms import MixedTermMatcher

if TYPE_CHECKING:
    from docstore.store import Store
    from indexer.solr_index import SolrIndex
    from pipeline.engine import Engine

MAX_BODY_CHARS = 50_000
OVERLAP_SECONDS = 3600.0  # an extraction that was still running during the last search
ARTICLES_PER_READ = 200

Finder = DefinitionFinder | RelationFinder | RelatedTermFinder
Row = TypeVar("Row", Definition, RelationProposal)


def search_articles(engine: "Engine", with_index: bool) -> StageReport:
    """Run the step. `with_index` is True if the index has all articles."""
    started = time.monotonic()
    try:
        with engine.lock("lexicon"):
            notes = update_from_sentences(engine.store, engine.index if with_index else None, engine.progress.task)
    except SolrError as error:
        notes = (Message("No search for definitions and relations: {reason}", reason=error_message(error)),)
    return StageReport(Stage.LEXICON, {}, time.monotonic() - started, notes)


def update_from_sentences(
    store: "Store", index: "SolrIndex | None", progress_task: ProgressTask = no_progress
) -> tuple[str, ...]:
    """Search articles for definitions of the published terms and for relations between them, and store both.

    Args:
        store: The store.
        index: Finds related terms, and the articles with new terms. Without it, all articles are searched for them.
        progress_task: Reports the number of searched articles.

    Returns:
        Notes for the report of the stage.

    Raises:
        SolrError: The index does not respond.
    """
    lexicon, started_at = store.lexicons.load_latest(), time.time()
    searched_version, searched_until = store.relations.search_state()
    terms = {entry.text for entry in lexicon.entries}
    earlier_terms = {entry.text for entry in store.lexicons.load_version(searched_version).entries}
    changed_ids = set(store.articles.iter_ids_extracted_since(searched_until - OVERLAP_SECONDS))
    stored_definitions = list(store.definitions.iter_all())
    changed_definitions = (row for row in stored_definitions if row.url_id in changed_ids)
    lost_definitions = _find_lost(store, changed_definitions, lambda row: row.sentence)
    rescored_definitions, rejected_definitions = rescore_definitions(stored_definitions)
    open_proposals = store.relations.iter_open_by_articles(changed_ids)
    lost_proposals = _find_lost(store, open_proposals, lambda row: row.relation.evidence)
    # A withdrawn term hid its parts. Other articles may show the lost relations.
    searched_terms = index_terms([*(terms ^ earlier_terms), *(row.relation.term for row in lost_proposals)])
    url_ids = changed_ids
    if searched_until and searched_terms:
        url_ids = changed_ids | (
            find_url_ids_matching(searched_terms, store, index) if index else dict(store.articles.iter_digests()).keys()
        )

    definitions = DefinitionFinder(terms & earlier_terms, changed_ids), DefinitionFinder(terms - earlier_terms, url_ids)
    relations = RelationFinder(terms, url_ids, store.glosses.iter_all())
    related_terms = [RelatedTermFinder(store, index, progress_task)] if index else []
    scan_articles(store, [*definitions, relations, *related_terms], progress_task)

    best_definitions = chain.from_iterable(best for finder in definitions for best in finder.best_by_term.values())
    new_definitions = _with_sources(store, best_definitions, started_at, progress_task)
    store.definitions.save([*rescored_definitions, *new_definitions], [*lost_definitions, *rejected_definitions])
    changed_count, related_count = _check_choices(store), 0
    for finder in related_terms:
        pairs = _with_sources(store, finder.best.values(), started_at, progress_task)
        related_count = store.relations.add_related(pairs, finder.next_term)
        store.lexicons.finish_step(RELATED_TERMS_STEP)
    new_proposals = _with_sources(store, relations.best, started_at, progress_task)
    relation_count = store.relations.save(new_proposals, lost_proposals, lexicon.version, started_at)
    store.lexicons.finish_step(SENTENCES_STEP)
    defined_count = len({definition.term for definition in new_definitions})
    notes = (
        Message("Definitions found for 1 term", "Definitions found for {n} terms", n=defined_count),
        Message(
            "1 chosen definition changed in the source", "{n} chosen definitions changed in the source", n=changed_count
        ),
        Message(
            "1 new relation between terms to review", "{n} new relations between terms to review", n=relation_count
        ),
        Message("1 new related term to review", "{n} new related terms to review", n=related_count),
    )
    return tuple(note for note in notes if note.values["n"])


def scan_articles(store: "Store", finders: Sequence[Finder], progress_task: ProgressTask) -> None:
    """Read the articles of all finders, each once, and pass the sentences to each finder that wants the article."""
    finders = [finder for finder in finders if finder.term_by_key]
    matcher = MixedTermMatcher(chain.from_iterable(finder.term_by_key for finder in finders))
    url_ids = sorted(set[int]().union(*(finder.url_ids for finder in finders)))
    with progress_task("lexicon: sentences", len(url_ids)) as advance:
        for batch in batched(url_ids, ARTICLES_PER_READ):
            for url_id, title, body in store.articles.iter_plain_texts(batch):
                sentences = match_sentences(body[:MAX_BODY_CHARS], matcher, title)
                for finder in finders:
                    if url_id in finder.url_ids:
                        finder.read(url_id, sentences)
            advance(len(batch))


def _check_choices(store: "Store") -> int:
    """Save whether the articles still contain the definitions that reviewers chose.

    Returns:
        The number of definitions whose articles do not contain the sentence any more, and did in the last run.
    """
    choices = dict(store.definitions.iter_choices())
    store.source_pages.keep_copies({choice.url_id for choice in choices.values()})
    bodies = _load_bodies(store, [choice.url_id for choice in choices.values()])
    source_by_term = dict.fromkeys(choices, DefinitionSource.GONE)
    for term, choice in choices.items():
        if choice.url_id in bodies:
            is_current = choice.sentence in bodies[choice.url_id]
            source_by_term[term] = DefinitionSource.CURRENT if is_current else DefinitionSource.CHANGED
    known_terms = store.review_queue.find_terms(sorted(choices))
    store.definitions.save_sources(source_by_term)
    return sum(
        source is DefinitionSource.CHANGED and known_terms[term].definition_source is not source
        for term, source in source_by_term.items()
    )


def _find_lost(store: "Store", rows: Iterable[Row], get_sentence: Callable[[Row], str]) -> list[Row]:
    """Return the stored rows whose articles do not contain the sentence any more."""
    stored_rows = list(rows)
    bodies = _load_bodies(store, [row.url_id for row in stored_rows])
    return [row for row in stored_rows if get_sentence(row) not in bodies.get(row.url_id, get_sentence(row))]


def _load_bodies(store: "Store", url_ids: Sequence[int]) -> dict[int, str]:
    return {url_id: body for url_id, _, body in store.articles.iter_plain_texts(url_ids)}


def _with_sources(store: "Store", findings: Iterable[Row], found_at: float, progress_task: ProgressTask) -> list[Row]:
    """Return the findings with their articles, without those whose article is gone meanwhile."""
    rows = []
    for batch in track(progress_task, "lexicon: sources", list(batched(findings, ARTICLES_PER_READ))):
        articles = store.articles.load_by_url_ids([finding.url_id for finding in batch])
        for finding in batch:
            if finding.url_id in articles:
                article = articles[finding.url_id].article
                date: dict[str, Any] = {"published": article.published} if isinstance(finding, Definition) else {}
                rows.append(replace(finding, url=article.url, title=article.title, found_at=found_at, **date))
    return rows
