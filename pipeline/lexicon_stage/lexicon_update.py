"""Publishes confident candidates without a reviewer (`lexicon.auto_publish`), after the term mining of a run."""

import time
from dataclasses import replace
from itertools import islice
from math import ceil
from operator import attrgetter
from typing import TYPE_CHECKING

from domain.message import Message
from domain.progress import ProgressTask
from domain.review import ReviewDecisionKind, TermEdit, TermQuery
from domain.term import AUTOMATIC_ACTOR, Lexicon, TermStatus
from lexicon.jieba_dictionary import create_domain_segmenter
from lexicon.publishing import MAX_NAMED_TERMS, describe_term_error
from lexicon.settings import AUTO_PUBLISH_OFF, LEARNED_SCORER
from lexicon.version_check import add_harmless_terms
from pipeline.lexicon_stage.lexicon_review import LexiconReview
from text.segment import base_segmenter

if TYPE_CHECKING:
    from lexicon.known_item_check import KnownItemComparison
    from pipeline.engine import Engine

MAX_CHECKED_ARTICLES = 1000
MAX_QUERIES = 200
MIN_QUERY_CHARS = 4  # shorter titles name no article
MAX_BODY_CHARS = 5000
MAX_REJECTED_TERMS = 10_000


def publish_confident_terms(engine: "Engine") -> tuple[str, ...]:
    """Accept the confident candidates and publish them together with the latest version.

    A candidate that an earlier run left to reviewers is accepted only if it occurs more often since. Unpublished
    decisions of reviewers stay unpublished. Terms that `check_version` refuses stay candidates. Nothing is accepted if
    the new version makes articles harder to find; the alert `lexicon_blocked` then fires until a version is published.

    Returns notes for the report of the stage. Raises LexiconError if a reviewer acts at the same time.
    """
    from lexicon.automatic_acceptance import select_confident_terms

    settings, lexicons = engine.settings.lexicon, engine.store.lexicons
    if settings.auto_publish == AUTO_PUBLISH_OFF or settings.scorer != LEARNED_SCORER:
        return ()
    queue, accepted_terms = engine.store.review_queue, lexicons.accepted_terms()
    _, candidates = queue.undecided_terms()
    decided_terms = [*accepted_terms, *queue.find_page(TermQuery(TermStatus.REJECTED, limit=MAX_REJECTED_TERMS))[1]]
    sample, authors = sample_articles(engine), engine.store.articles.list_authors()
    half = MAX_BODY_CHARS // 2  # of an article: its beginning and its end
    texts = [f"{body[:half]}\n{body[max(half, len(body) - half) :]}" for _, body in sample]
    selected_terms = select_confident_terms(candidates, base_segmenter(), decided_terms, texts, authors)
    new_texts = lexicons.texts_with_new_evidence()
    confident_terms = [term for term in selected_terms if term.text in new_texts]
    previous = lexicons.load_latest()
    new_terms = [*filter(attrgetter("is_automatic"), accepted_terms), *confident_terms]  # a killed run left the first
    version, errors = add_harmless_terms(previous, new_terms, [*new_terms, *accepted_terms])
    reasons = tuple(describe_term_error(term, error) for term, error in sorted(errors.items()))[:MAX_NAMED_TERMS]
    refusal = Message(
        "1 term not accepted automatically: {reasons}",
        "{n} terms not accepted automatically: {reasons}",
        n=len(errors),
        reasons=reasons,
    )
    notes = (refusal,) if errors else ()
    if version is not previous:
        comparison = compare_on_known_items(sample, previous, version, engine.progress.task)
        counts = {"lost": comparison.lost_count, "gained": comparison.gained_count, "n": comparison.query_count}
        if comparison.is_harmful:
            lexicons.save_blocked_version(time.time(), *counts.values())
            block = Message(
                "No automatic lexicon version: of 1 article, {lost} are harder to find and {gained} easier",
                "No automatic lexicon version: of {n} articles, {lost} are harder to find and {gained} easier",
                **counts,
            )
            return (*notes, block)
        words = [term for term in confident_terms if term.text not in errors]
        edits = [TermEdit(term.text, TermStatus.ACCEPTED, seen_version=term.version) for term in words]
        LexiconReview(engine.store).apply(ReviewDecisionKind.DECIDE, edits, AUTOMATIC_ACTOR)
        published = lexicons.publish(replace(version, published_by=AUTOMATIC_ACTOR))
        success = Message(
            "1 word accepted automatically, published as version {version}",
            "{n} words accepted automatically, published as version {version}",
            n=len(edits),
            version=str(published.version),
        )
        notes = (*notes, success)
    lexicons.mark_considered()
    return notes


def sample_articles(engine: "Engine") -> list[tuple[str, str]]:
    """Return title and body of articles, spread evenly over all. The middle of long bodies is left out."""
    ids = [url_id for url_id, _ in engine.store.articles.iter_digests()]
    step = max(1, ceil(len(ids) / MAX_CHECKED_ARTICLES))
    return [
        (title, body if len(body) <= 2 * MAX_BODY_CHARS else body[:MAX_BODY_CHARS] + body[-MAX_BODY_CHARS:])
        for _, title, body in engine.store.articles.iter_plain_texts(ids[::step])
    ]


def compare_on_known_items(
    sample: list[tuple[str, str]], previous: Lexicon, version: Lexicon, progress_task: ProgressTask
) -> "KnownItemComparison":
    """Compare two versions on articles; see lexicon/known_item_check.py."""
    from lexicon.known_item_check import compare_versions

    sample = [(title, body[:MAX_BODY_CHARS]) for title, body in sample]
    queries = {title: body for title, body in sample if len(title) >= MIN_QUERY_CHARS}
    query_articles = dict(islice(queries.items(), 0, None, max(1, ceil(len(queries) / MAX_QUERIES))))
    other_bodies = [body for title, body in sample if query_articles.get(title) != body]
    old_cut, new_cut = (create_domain_segmenter(lexicon).cut for lexicon in (previous, version))
    bodies = [*query_articles.values(), *other_bodies]
    return compare_versions(list(query_articles), bodies, old_cut, new_cut, progress_task)
