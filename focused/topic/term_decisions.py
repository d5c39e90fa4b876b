"""Administrator decisions on topics: add, accept and reject terms. The search site loads it, so it imports little."""

from collections.abc import Sequence

from domain.errors import TopicError
from domain.topic import Topic, TopicState, TopicTerm, TopicTermClass
from focused.topic.topic_file_store import MAX_TERM_CHARS, TopicFileStore

OPERATOR_ORIGIN = "operator"


def operator_terms(texts: Sequence[str], term_class: TopicTermClass) -> list[TopicTerm]:
    """Return the texts as confirmed terms of the administrator, each text once.

    Raises:
        TopicError: a text is empty or longer than MAX_TERM_CHARS.
    """
    for text in texts:
        if not 0 < len(text.strip()) <= MAX_TERM_CHARS:
            raise TopicError(f"{text[:80]!r}: a term has 1 to {MAX_TERM_CHARS} characters")
    return [
        TopicTerm(text.strip(), term_class, TopicState.CONFIRMED, OPERATOR_ORIGIN, 1.0) for text in dict.fromkeys(texts)
    ]


def add_topic_terms(topic_store: TopicFileStore, name: str, texts: Sequence[str], term_class: TopicTermClass) -> Topic:
    """Add terms of the administrator as confirmed. Terms that are proposed or rejected become confirmed.

    Returns:
        The changed topic.
    """
    new_terms = operator_terms(texts, term_class)
    return topic_store.update(
        name,
        lambda topic: topic.with_terms(new_terms).with_decision(
            [term.text for term in new_terms], TopicState.CONFIRMED, term_class
        ),
    )


def decide_terms(
    topic_store: TopicFileStore,
    name: str,
    texts: Sequence[str],
    state: TopicState,
    term_class: TopicTermClass | None = None,
) -> Topic:
    """Set the state of terms and seeds, and the class of terms if given. Returns the changed topic.

    Raises:
        TopicError: the topic has no such term or seed. No decision is saved then.
    """

    def apply_decision(topic: Topic) -> Topic:
        if unknown := topic.unknown_items(texts):
            raise TopicError(
                "Topic {topic} has no {items}. “plumb topic terms” and “plumb topic seeds” list what it has.",
                topic=name,
                items=tuple(unknown[:5]),
            )
        return topic.with_decision(texts, state, term_class)

    return topic_store.update(name, apply_decision)
