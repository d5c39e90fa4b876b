"""Publishes confident candidates without a reviewer (`lexicon.auto_publish`), after the term mining of a run."""

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING

from domain.message import Message
from domain.review import ReviewDecisionKind, TermEdit
from domain.term import AUTOMATIC_ACTOR, Lexicon, Term, TermStatus
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


def publish_confident_terms(engine: "Engine") -> tuple[str, ...]:
    """Accept the confident candidates and publish them together with the latest version.

    Unpublished decisions of reviewers stay unpublished. Terms that `check_version` refuses stay candidates. Nothing is
    accepted if the new version makes articles harder to find; the alert `lexicon_blocked` then fires until a version is
    published.

    Returns:
        Notes for the report of the stage.

    Raises:
        LexiconError: A reviewer acts at the same time.
    """
    from lexicon.automatic_acceptance import select_confident_terms

    settings, lexicons = engine.settings.lexicon, engine.store.lexicons
    if settings.auto_publish == AUTO_PUBLISH_OFF or settings.scorer != LEARNED_SCORER:
        return ()
    _, candidates = engine.store.review_queue.undecided_terms()
    accepted_terms = lexicons.accepted_terms()
    confident_terms = select_confident_terms(candidates, base_segmenter(), accepted_terms)
    accepted_earlier = [term for term in accepted_terms if term.is_automatic]  # a killed run left them
    previous = lexicons.load_latest()
    new_terms = [*accepted_earlier, *confident_terms]
    version, errors = add_harmless_terms(previous, new_terms, [*new_terms, *accepted_terms])
    notes: tuple[str, ...] = ()
    if errors:
        reasons = tuple(describe_term_error(term, error) for term, error in sorted(errors.items()))[:MAX_NAMED_TERMS]
        notes = (
            Message(
                "1 term not accepted automatically: {reasons}",
                "{n} terms not accepted automatically: {reasons}",
                n=len(errors),
                reasons=reasons,
            ),
        )
    if version is previous:
        return notes
    comparison = compare_on_known_items(engine, previous, version)
    if comparison.is_harmful:
        lexicons.save_blocked_version(
            time.time(), comparison.lost_count, comparison.gained_count, comparison.query_count
        )
        counts = {"n": comparison.query_count, "lost": comparison.lost_count, "gained": comparison.gained_count}
        return (
            *notes,
            Message(
                "No automatic lexicon version: of 1 article, {lost} are harder to find and {gained} easier",
                "No automatic lexicon version: of {n} articles, {lost} are harder to find and {gained} easier",
                **counts,
            ),
        )
    return notes + publish_version(engine, version, [term for term in confident_terms if term.text not in errors])


def publish_version(engine: "Engine", version: Lexicon, confident_terms: Sequence[Term]) -> tuple[str, ...]:
    """Accept the terms and publish the version. Raises LexiconError if a reviewer acts at the same time."""
    edits = [TermEdit(term.text, TermStatus.ACCEPTED, seen_version=term.version) for term in confident_terms]
    LexiconReview(engine.store).apply(ReviewDecisionKind.DECIDE, edits, AUTOMATIC_ACTOR)
    published = engine.store.lexicons.publish(replace(version, published_by=AUTOMATIC_ACTOR))
    count = len(confident_terms)
    return (
        Message(
            "1 word accepted automatically, published as version {version}",
            "{n} words accepted automatically, published as version {version}",
            n=count,
            version=str(published.version),
        ),
    )


def compare_on_known_items(engine: "Engine", previous: Lexicon, version: Lexicon) -> "KnownItemComparison":
    """Compare two versions on a sample of the articles, spread evenly over all; see lexicon/known_item_check.py."""
    from lexicon.known_item_check import compare_versions

    articles = engine.store.articles
    ids = [url_id for url_id, _ in articles.iter_digests()]
    step = max(1, ceil(len(ids) / MAX_CHECKED_ARTICLES))
    sample = [(title, body[:MAX_BODY_CHARS]) for _, title, body, _ in articles.iter_texts(ids[::step])]
    queries = {title: body for title, body in sample if len(title) >= MIN_QUERY_CHARS}
    query_articles = dict(islice(queries.items(), 0, None, max(1, ceil(len(queries) / MAX_QUERIES))))
    other_bodies = [body for title, body in sample if query_articles.get(title) != body]
    cuts = (create_domain_segmenter(lexicon).cut for lexicon in (previous, version))
    return compare_versions(list(query_articles), [*query_articles.values(), *other_bodies], *cuts)
