"""Decides which pages of a focused crawl are retained, at the end of the crawl and after new labels.

policy.current_scores -> table of focused decisions -> rejected pages are removed, pages now on topic are fetched again
                      -> pages for a person to label
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from crawler.focused_policy import deserialize_page
from crawler.settings import FOCUSED_STRATEGIES, resolve_strategy
from domain.errors import TopicError
from domain.focused_decision import RevisedDecision, TopicQuestion
from pipeline.topic.coverage import report_coverage, reschedule_refetch

if TYPE_CHECKING:  # imports scikit-learn, which reading answers does not need
    from focused.topic_policy import TopicPolicy
    from pipeline.engine import Engine


def apply_retention(engine: "Engine", policy: "TopicPolicy") -> None:
    """Revise the decisions on all pages with the current model, and select the pages to label next."""
    current_scores = policy.current_scores()
    if not current_scores:
        return
    table, topic = engine.store.focused_decisions, policy.config.topic_name
    revisions = {url: RevisedDecision(score.is_relevant, score.score) for url, score in current_scores.items()}
    revision = table.apply_revisions(revisions, policy.config.strategy_name)
    answers = engine.store.topic_questions.answers(topic)
    applied_urls = [url for url, answer in answers.items() if url in revisions and revisions[url].score == answer]
    table.record_applied_labels(topic, len(applied_urls))
    reschedule_refetch(engine, revision.missing_urls)
    engine.store.topic_questions.replace_pending(topic, select_questions(engine, policy, revisions))
    if revision.dropped_count:
        engine.progress.note(f"{revision.dropped_count} pages are off topic by the current model and were removed")
    report_coverage(engine, topic)


def select_questions(
    engine: "Engine", policy: "TopicPolicy", revisions: Mapping[str, RevisedDecision]
) -> list[TopicQuestion]:
    """Return the pages whose labels would improve the model most."""
    question_urls = policy.pages_to_label(engine.settings.topic.questions)
    decisions = (
        decision for url in question_urls if (decision := engine.store.focused_decisions.find(url)) is not None
    )
    return [
        TopicQuestion(
            decision.url, " ".join(deserialize_page(decision.packed_words).words.title), revisions[decision.url].score
        )
        for decision in decisions
    ]


def save_answers(engine: "Engine", topic: str, answers: Mapping[str, bool], actor: str) -> None:
    """Save a person's labels of pages. Raises TopicError if a page has no focused decision."""
    unknown = [url for url in answers if engine.store.focused_decisions.find(url) is None]
    if unknown:
        raise TopicError("{url} was not fetched for a topic. Answer only about listed pages.", url=unknown[0])
    engine.store.topic_questions.save_answers(topic, answers, actor)


def apply_answers(engine: "Engine", topic: str) -> None:
    """Apply new labels immediately if the configured crawl is a focused crawl for this topic.

    A running crawl applies them itself.
    """
    if engine.settings.crawl.topic != topic or resolve_strategy(engine.settings.crawl) not in FOCUSED_STRATEGIES:
        return
    from pipeline.topic.policy_factory import (  # imports scikit-learn, which reading answers does not need
        create_policy,
        focused_crawl_settings,
    )

    with engine.lock("crawl"):
        policy = create_policy(engine, focused_crawl_settings(engine))
        try:
            apply_retention(engine, policy)
            policy.save_snapshot()
        finally:
            policy.config.close()
