"""Decisions on a topic: what the operator adds, confirms and refuses. Light: the search site loads it."""

from collections.abc import Sequence

from docstore.errors import TopicError
from docstore.topics import Topic, TopicState, TopicTerm, TopicTermClass
from focused.topic.file import LONGEST_TERM, TopicFiles

OPERATOR = "operator"


def own_terms(texts: Sequence[str], kind: TopicTermClass) -> list[TopicTerm]:
    """Terms that the operator names: confirmed. TopicError for one that no segmenter takes."""
    for text in texts:
        if not 0 < len(text.strip()) <= LONGEST_TERM:
            raise TopicError(f"{text[:80]!r}: a term has 1 to {LONGEST_TERM} characters")
    return [TopicTerm(text.strip(), kind, TopicState.CONFIRMED, OPERATOR, 1.0) for text in dict.fromkeys(texts)]


def add(files: TopicFiles, name: str, texts: Sequence[str], kind: TopicTermClass) -> Topic:
    """Add and confirm terms of the operator's own; one that is proposed or refused is confirmed."""
    new = own_terms(texts, kind)
    return files.change(
        name, lambda topic: topic.with_terms(new).decided([term.text for term in new], TopicState.CONFIRMED, kind)
    )


def decide(
    files: TopicFiles, name: str, texts: Sequence[str], state: TopicState, kind: TopicTermClass | None = None
) -> Topic:
    """Decide on terms and seeds. TopicError, and nothing is decided, where one of them is not there."""

    def decided(topic: Topic) -> Topic:
        if unknown := topic.unknown_among(texts):
            raise TopicError(
                f"topic {name} has no {', '.join(unknown[:5])}: see plumb topic terms and plumb topic seeds"
            )
        return topic.decided(texts, state, kind)

    return files.change(name, decided)
