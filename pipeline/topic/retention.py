"""What is kept of a crawl for a topic, decided when it ends and whenever a person has answered.

guide.verdicts -> table of judgements -> pages that are not kept any more leave, others are asked again
               -> questions to a person
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.focused_policy import ReviewInstructions, deserialize_page
from crawler.settings import FOCUSED_STRATEGIES, resolve_strategy
from docstore.coded_message import CodedMessage
from docstore.errors import TopicError
from docstore.frontier.focused_decisions import RevisedDecision
from docstore.frontier.topic_questions import TopicQuestion

if TYPE_CHECKING:  # scikit-learn: whoever only reads answers does without
    from focused.topic_policy import TopicPolicy
    from pipeline.engine import Engine


@dataclass(frozen=True)
class TopicCoverage:
    """What is kept of a topic. `precision` and `recall` are what is to be expected: the share of it that is of the
    topic, and of all pages of the topic that were fetched the share that is kept."""

    kept: int
    precision: float
    recall: float


def load_instructions(engine: "Engine", topic: str) -> ReviewInstructions:
    """What the operator wants, and what was answered so far."""
    return ReviewInstructions(engine.settings.topic.precision, engine.store.topic_questions.answers(topic))


def estimate_coverage(engine: "Engine", topic: str) -> TopicCoverage | None:
    """What is to be expected of the pages kept for a topic; None where `fused` has fetched none."""
    retained_count, expected_on_topic, expected_total = engine.store.focused_decisions.score_totals(topic, "fused")
    return (
        TopicCoverage(
            retained_count,
            expected_on_topic / retained_count if retained_count else 1.0,
            expected_on_topic / expected_total,
        )
        if expected_total
        else None
    )


def apply_retention(engine: "Engine", policy: "TopicPolicy") -> None:
    """Decide what is kept, by all that is known now, and ask what is to be known next."""
    verdicts = policy.current_scores()
    if not verdicts:
        return
    table, topic = engine.store.focused_decisions, policy.config.topic_name
    new_verdicts = {url: RevisedDecision(verdict.is_relevant, verdict.score) for url, verdict in verdicts.items()}
    revision = table.apply_revisions(new_verdicts, policy.config.strategy_name)
    reschedule_refetch(engine, revision.missing_urls)
    engine.store.topic_questions.replace_pending(topic, select_questions(engine, policy, new_verdicts))
    if revision.dropped_count:
        engine.progress.note(f"{revision.dropped_count} pages proved to be off topic and are not kept")
    report_coverage(engine, topic)


def report_coverage(engine: "Engine", topic: str) -> None:
    """Say what is to be expected of what is kept."""
    coverage = estimate_coverage(engine, topic)
    if coverage is not None:
        target_precision = engine.settings.topic.precision
        engine.progress.note(
            f"{coverage.kept} pages are kept for {topic}; expected: {coverage.precision:.0%} of them on topic (wanted "
            f"{target_precision:.0%}), {coverage.recall:.0%} of those on topic that were fetched"
        )


def reschedule_refetch(engine: "Engine", urls: tuple[str, ...] | list[str]) -> None:
    """Have pages fetched again that were not kept and would be now; those that the archive has need not be."""
    refetch_urls = [url for url, entry in engine.store.frontier.find_entries(urls).items() if not entry.digest]
    engine.store.frontier.reschedule(dict.fromkeys(refetch_urls, 0.0))
    if refetch_urls:
        engine.progress.note(
            f"{len(refetch_urls)} pages that were off topic are asked again: what is known has changed"
        )


def select_questions(
    engine: "Engine", policy: "TopicPolicy", new_verdicts: Mapping[str, RevisedDecision]
) -> list[TopicQuestion]:
    """The questions to a person."""
    question_urls = policy.pages_to_label(engine.settings.topic.questions)
    decisions = (
        decision for url in question_urls if (decision := engine.store.focused_decisions.find(url)) is not None
    )
    return [
        TopicQuestion(
            decision.url,
            " ".join(deserialize_page(decision.packed_words).words.title),
            new_verdicts[decision.url].score,
        )
        for decision in decisions
    ]


def save_answers(engine: "Engine", topic: str, answers: Mapping[str, bool], by: str) -> None:
    """Keep a person's answers about pages of a topic that were judged. TopicError where one was not."""
    unknown = [url for url in answers if engine.store.focused_decisions.find(url) is None]
    if unknown:
        message = f"{unknown[0]} was not fetched for a topic: answer about pages that plumb topic judge names"
        raise TopicError(CodedMessage(message, "page_not_fetched", url=unknown[0]))
    engine.store.topic_questions.save_answers(topic, answers, by)


def apply_answers(engine: "Engine", topic: str) -> None:
    """Have the answers count now, where the crawl looks for this topic by a strategy that takes them. One that goes on
    takes them itself."""
    if engine.settings.crawl.topic != topic or resolve_strategy(engine.settings.crawl) not in FOCUSED_STRATEGIES:
        return
    from pipeline.topic.policy_factory import (  # scikit-learn: whoever only reads answers does without
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
