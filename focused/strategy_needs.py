"""What a strategy needs to compare words by meaning, what of it is missing, and what a crawl uses instead.

It loads no array library, so that commands and the review page can use it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from domain.message import Message

MIN_ARTICLES = 500  # with fewer articles no vectors are trained on them


class Resource(StrEnum):
    """What a strategy uses beside pages and topic."""

    VECTORS = "vectors"
    CONCEPTS = "concepts"
    TREE = "tree"


_USED_RESOURCES: Mapping[str, tuple[Resource, ...]] = {
    "semantic": (Resource.VECTORS, Resource.CONCEPTS),
    "topic_library": (Resource.VECTORS, Resource.CONCEPTS),
    "semantic_tree": (Resource.VECTORS, Resource.TREE),
}
_FALLBACKS: Mapping[str, str] = {"semantic": "static_keywords"}
"""Strategies that are worse than a plain comparison of words if all their resources are missing."""
_REMEDIES: Mapping[Resource, str] = {
    Resource.VECTORS: "{strategy}: no word vectors: {n} of at least {minimum} articles. Set papers.vectors, or crawl "
    "more articles. {effect}.",
    Resource.CONCEPTS: "{strategy}: no concept files: name files of HowNet, Cilin or Open Wordnet in crawl.concepts. "
    "{effect}.",
    Resource.TREE: "{strategy}: no term tree: give one to plumb topic init with --tree. {effect}.",
}
_EFFECTS: Mapping[str, Message] = {
    "semantic": Message("Then words of similar meaning count like those of the topic (ZK-A1)"),
    "topic_library": Message("Then words of similar meaning extend the topic (WY-A2)"),
    "semantic_tree": Message("Then words that are near in the tree count like those of the topic (ZJ-F5)"),
}


@dataclass(frozen=True)
class StrategyNeeds:
    """The strategy that a crawl uses, and what its settings lack.

    `effective_strategy` differs from `strategy` if the crawl falls back to another one.
    """

    strategy: str
    effective_strategy: str
    missing: tuple[Resource, ...]
    article_count: int

    def messages(self) -> list[Message]:
        """Return a sentence for each missing resource, and one for a fallback."""
        messages = [self._missing_message(resource) for resource in self.missing]
        if self.effective_strategy != self.strategy:
            messages.append(
                Message("Until one of these is supplied, the crawl uses: {strategy}", strategy=self.effective_strategy)
            )
        return messages

    def _missing_message(self, resource: Resource) -> Message:
        values = {"n": self.article_count, "minimum": MIN_ARTICLES}
        return Message(_REMEDIES[resource], strategy=self.strategy, effect=_EFFECTS[self.strategy], **values)


def assess_needs(
    strategy: str, has_vector_file: bool, has_concepts: bool, has_tree: bool, article_count: int
) -> StrategyNeeds:
    """Decide which resources a strategy lacks, and which strategy a crawl uses.

    A given tree replaces the one that `semantic_tree` makes from vectors.
    """
    available = {
        Resource.VECTORS: has_vector_file
        or article_count >= MIN_ARTICLES
        or (has_tree and strategy == "semantic_tree"),
        Resource.CONCEPTS: has_concepts,
        Resource.TREE: has_tree,
    }
    used = _USED_RESOURCES.get(strategy, ())
    missing = tuple(resource for resource in used if not available[resource])
    effective_strategy = _FALLBACKS.get(strategy, strategy) if missing == used else strategy
    return StrategyNeeds(strategy, effective_strategy, missing, article_count)
