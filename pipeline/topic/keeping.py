"""What is kept of a crawl for a topic, decided when it ends and whenever a person has answered.

guide.verdicts -> table of judgements -> pages that are not kept any more leave, others are asked again
               -> questions to a person
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.guide import Instructions, unpacked
from crawler.settings import FOCUSED, strategy_of
from docstore.errors import TopicError
from docstore.frontier.focused_decisions import NewVerdict
from docstore.frontier.topic_questions import TopicQuestion

if TYPE_CHECKING:  # scikit-learn: whoever only reads answers does without
    from focused.topic_guide import TopicGuide
    from pipeline.engine import Engine


@dataclass(frozen=True)
class TopicYield:
    """What is kept of a topic. `precision` and `recall` are what is to be expected: the share of it that is of the
    topic, and of all pages of the topic that were fetched the share that is kept."""

    kept: int
    precision: float
    recall: float


def instructions_of(engine: "Engine", topic: str) -> Instructions:
    """What the operator wants, and what was answered so far."""
    return Instructions(engine.settings.topic.precision, engine.store.topic_questions.answers(topic))


def expected_yield(engine: "Engine", topic: str) -> TopicYield | None:
    """What is to be expected of the pages kept for a topic; None where `fused` has fetched none."""
    kept, right, there = engine.store.judgements.expected(topic, "fused")
    return TopicYield(kept, right / kept if kept else 1.0, right / there) if there else None


def settle(engine: "Engine", guide: "TopicGuide") -> None:
    """Decide what is kept, by all that is known now, and ask what is to be known next."""
    verdicts = guide.verdicts()
    if not verdicts:
        return
    table, topic = engine.store.judgements, guide.means.topic
    now = {url: NewVerdict(one.keep, one.score) for url, one in verdicts.items()}
    done = table.revise(now, guide.means.strategy)
    ask_again(engine, done.wanted)
    engine.store.topic_questions.ask(topic, questions_of(engine, guide, now))
    if done.dropped:
        engine.progress.note(f"{done.dropped} pages proved to be off topic and are not kept")
    tell(engine, topic)


def tell(engine: "Engine", topic: str) -> None:
    """Say what is to be expected of what is kept."""
    found = expected_yield(engine, topic)
    if found is not None:
        wanted = engine.settings.topic.precision
        engine.progress.note(
            f"{found.kept} pages are kept for {topic}; expected: {found.precision:.0%} of them on topic (wanted "
            f"{wanted:.0%}), {found.recall:.0%} of those on topic that were fetched"
        )


def ask_again(engine: "Engine", wanted: tuple[str, ...] | list[str]) -> None:
    """Have pages fetched again that were not kept and would be now; those that the archive has need not be."""
    lost = [url for url, entry in engine.store.frontier.entries(wanted).items() if not entry.digest]
    engine.store.frontier.reschedule(dict.fromkeys(lost, 0.0))
    if lost:
        engine.progress.note(f"{len(lost)} pages that were off topic are asked again: what is known has changed")


def questions_of(engine: "Engine", guide: "TopicGuide", now: Mapping[str, NewVerdict]) -> list[TopicQuestion]:
    """The questions to a person."""
    found = guide.questions(engine.settings.topic.questions)
    stored = (one for url in found if (one := engine.store.judgements.find(url)) is not None)
    return [TopicQuestion(one.url, " ".join(unpacked(one.words).page.title), now[one.url].score) for one in stored]


def answer(engine: "Engine", topic: str, answers: Mapping[str, bool], by: str) -> None:
    """Keep a person's answers about pages of a topic that were judged. TopicError where one was not."""
    unknown = [url for url in answers if engine.store.judgements.find(url) is None]
    if unknown:
        raise TopicError(f"{unknown[0]} was not fetched for a topic: answer about pages that plumb topic judge names")
    engine.store.topic_questions.answer(topic, answers, by)


def apply_answers(engine: "Engine", topic: str) -> None:
    """Have the answers count now, where the crawl looks for this topic by a strategy that takes them. One that goes on
    takes them itself."""
    if engine.settings.crawl.topic != topic or strategy_of(engine.settings.crawl) not in FOCUSED:
        return
    from pipeline.topic.guide import guide_for, settings_for  # scikit-learn: whoever only reads answers does without

    with engine.lock("crawl"):
        guide = guide_for(engine, settings_for(engine))
        try:
            settle(engine, guide)
            guide.save()
        finally:
            guide.means.close()
