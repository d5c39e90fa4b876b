"""The estimated quality of the pages that a topic retained, and the instructions of its reviewers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from crawler.focused_policy import ReviewInstructions
from domain.focused_decision import TopicCoverage

if TYPE_CHECKING:
    from pipeline.engine import Engine


def load_instructions(engine: "Engine", topic: str) -> ReviewInstructions:
    """Return the target precision and all labels so far."""
    return ReviewInstructions(engine.settings.topic.precision, engine.store.topic_questions.answers(topic))


def estimate_coverage(engine: "Engine", topic: str) -> TopicCoverage | None:
    """Estimate the quality of the retained pages of a topic; None if the strategy `fused` has fetched no page."""
    coverage = engine.store.focused_decisions.coverage(topic, "fused")
    return coverage if coverage.decided_count else None


def report_coverage(engine: "Engine", topic: str) -> None:
    """Report the expected quality of the retained pages as a progress note."""
    coverage = estimate_coverage(engine, topic)
    if coverage is not None:
        engine.progress.note(
            f"topic {topic}: {format_coverage(coverage_to_json(coverage), engine.settings.topic.precision)}"
        )


def coverage_to_json(coverage: TopicCoverage) -> dict[str, Any]:
    """Return a coverage under the keys of `plumb topic show NAME --json`."""
    return {
        "kept": coverage.retained_count,
        "precision": coverage.precision,
        "recall": coverage.recall,
        "missing_answers": coverage.missing_label_count,
    }


def format_coverage(expected: Mapping[str, Any], target_precision: float) -> str:
    """Format the result of `coverage_to_json`: the expected quality, or how many answers it takes to state it."""
    line = f"{expected['kept']} pages kept (target: {target_precision:.0%} of them on topic)"
    if expected["missing_answers"]:
        return f"{line}; an estimate needs {expected['missing_answers']} more answers about pages"
    if expected["precision"] is None or expected["recall"] is None:
        return line
    return (
        f"{line}; estimate: {expected['precision']:.0%} of them on topic, "
        f"{expected['recall']:.0%} of all on-topic pages fetched"
    )


def reschedule_refetch(engine: "Engine", urls: tuple[str, ...] | list[str]) -> None:
    """Reschedule rejected pages that are now on topic, except those whose body is in the archive."""
    refetch_urls = [url for url, entry in engine.store.frontier.find_entries(urls).items() if not entry.digest]
    engine.store.frontier.reschedule(dict.fromkeys(refetch_urls, 0.0))
    if refetch_urls:
        engine.progress.note(f"rescheduled {len(refetch_urls)} off-topic pages: the topic model has changed")
