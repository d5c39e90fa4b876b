"""Citations of an article, and news items that can be one story."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from domain.article import text_hash64

AUTHORITY_STEPS_PER_UNIT = 4  # resolution of authority scores: smaller changes do not cause indexing


@dataclass(frozen=True)
class ArticleCitations:
    """Citation keys of one article.

    Attributes:
        cluster_id: Document id of its near-duplicate cluster.
        work_name: Name of the work of which the article is a part, or "".
        cited_keys: Keys that the article cites.
        own_keys: Keys by which the article is cited.
    """

    url_id: int
    digest: str
    cluster_id: str
    host: str
    work_name: str = ""
    cited_keys: Collection[str] = ()
    own_keys: Collection[str] = ()

    @property
    def source_hash(self) -> int:
        """64-bit hash of the source. Articles with the same hash count as one source."""
        return text_hash64(f"work {self.work_name}" if self.work_name else self.cluster_id)


def authority_score(count: int) -> float:
    """Return the authority of an article with `count` citations: ln(1 + count), rounded to a quarter."""
    return round(math.log1p(count) * AUTHORITY_STEPS_PER_UNIT) / AUTHORITY_STEPS_PER_UNIT


@dataclass(frozen=True)
class NewsItem:
    """An article as input of story detection.

    Attributes:
        ordinal_day: Day of publication, counted from 0001-01-01.
        word_weights: Words that describe the event, with their weights.
        keys: The most distinctive words.
        vector: int8 bytes, or empty.
    """

    url_id: int
    doc_id: str
    host: str
    ordinal_day: int
    word_weights: Mapping[str, float]
    keys: Sequence[str] = ()
    vector: bytes = b""


EventSimilarity = Callable[[NewsItem, NewsItem], float]
"""Confidence that two articles report the same event; 0 if they do not."""
