"""Finding by meaning beside words: who is asked, and how both lists of candidates become one. Pure.

    words       the first of the ranking, with Solr's scores      hits_params
    neighbours  the documents whose vectors are nearest to the query's      neighbours_params
    fused       both, by the sum of their scores

Each list's scores are measured in its own standard deviations, from the last of the list on, which counts nothing, and
a document has the sum: one that both find comes before one that either finds alone. docs/decisions/0096 has what other
ways would do. Totals and facets stay with the words.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import pstdev
from typing import Any, Protocol

from docstore import fields
from search_ui.query.clauses import Clause, Parameter, Params, Words, select_params
from search_ui.query.filters import filter_clauses
from search_ui.query.ranking import PROFILES, TITLED_PARAMETER
from search_ui.query.request import SearchRequest, Sort, last_numbered
from search_ui.query.solr_client import Answer
from search_ui.settings import SearchSettings
from text.titles import title_keys

NEIGHBOURS = 100
NEIGHBOURS_AUTHORITY = 0.02  # less than for scores; other weights: docs/background/ranking.md
TITLED = "titled"  # in an answer: above 0 where a document has the query for its title
Doc = Mapping[str, Any]


@dataclass(frozen=True)
class QueryVector:
    """What a query means: the id of the model, the field with its vectors, and the query's own, a byte a dimension.

    `near_enough` is the cosine from which on the model finds two texts alike: what words do not find has to be as near.
    """

    model_id: str
    field: str
    values: tuple[int, ...]
    near_enough: float


class Meaning(Protocol):
    """The models of the vertical and the vectors of its passages."""

    def vector_of(self, text: str) -> QueryVector | None:
        """What a query means; None where nothing can be found by meaning. Asks no network."""

    def of_article(self, digest: str) -> QueryVector | None:
        """What the article with this digest means; None where no model has read it."""

    def best_passages(self, asked: QueryVector, digests: Iterable[str]) -> Mapping[str, tuple[int, int]]:
        """Of articles with these digests the passage nearest to the query: digest -> first character of the body, and
        the one after its last."""


class WordsAlone:
    """Nothing is found by meaning."""

    def vector_of(self, text: str) -> QueryVector | None:
        """None."""

    def of_article(self, digest: str) -> QueryVector | None:
        """None."""

    def best_passages(self, asked: QueryVector, digests: Iterable[str]) -> Mapping[str, tuple[int, int]]:
        """None."""
        return {}


WORDS_ALONE = WordsAlone()


@dataclass(frozen=True)
class Candidate:
    """A document of a fused list: what Solr said of it, and the two summands of its score. `is_alone`: it is not among
    those that the words find first."""

    doc: Doc
    words: float
    meaning: float
    is_alone: bool = False

    @property
    def score(self) -> float:
        """What the list is ordered by."""
        return self.words + self.meaning

    @property
    def share(self) -> float:
        """The share of meaning in the score, 0 to 1."""
        return self.meaning / self.score if self.score else 0.0


@dataclass(frozen=True)
class Candidates:
    """The fused list as far as pages have numbers, each cluster once; behind it come `tail` documents that only words
    find. `near` are the ids of what is nearest in meaning, with the cosines, `by_words` those of what words find first;
    each in its order.
    """

    vector: QueryVector
    listed: tuple[Candidate, ...]
    tail: int
    near: tuple[tuple[str, float], ...] = ()
    by_words: tuple[str, ...] = ()

    @property
    def matched(self) -> int:
        """How many documents can be paged through."""
        return len(self.listed) + self.tail

    @property
    def clusters(self) -> list[str]:
        """The clusters of the list: what comes behind it has others."""
        return [cluster_of(one.doc) for one in self.listed]

    def alone_among(self, ids: Sequence[str]) -> list[str]:
        """Those of the documents `ids` that meaning alone has found."""
        alone = {str(one.doc[fields.ID]) for one in self.listed if one.is_alone}
        return [doc_id for doc_id in ids if doc_id in alone]

    def share_of(self, doc_id: str) -> float:
        """The share of meaning in the score of a document, 0 to 1; 0 for one that is not in the list."""
        return next((one.share for one in self.listed if str(one.doc[fields.ID]) == doc_id), 0.0)

    def page(self, number: int, size: int) -> Answer:
        """Page `number` of the list, as Solr would answer."""
        docs = [one.doc for one in self.listed[(number - 1) * size : number * size]]
        return {"response": {"numFound": self.matched, "docs": docs}}


def may_find(asked: SearchRequest) -> bool:
    """May meaning help? What is quoted, typed with an operator or sorted otherwise is meant to the letter."""
    is_plain = bool(asked.query.text) and not asked.query.conditions and not asked.cluster
    return is_plain and asked.sort is Sort.RELEVANCE and PROFILES[asked.profile].meaning > 0


def neighbours_params(asked: SearchRequest, words: Words, vector: QueryVector, shown: Sequence[str]) -> Params:
    """What finds the nearest documents among those that pass the filters: Solr looks at no others."""
    text = "[" + ",".join(map(str, vector.values)) + "]"
    nearest = Clause("knn", (("f", vector.field), ("topK", str(NEIGHBOURS)), ("v", Parameter("vector", text))))
    return select_params(nearest, filter_clauses(asked, words), NEIGHBOURS, [*shown, fields.AUTHORITY])


def listed_most(settings: SearchSettings) -> int:
    """How many documents a fused list has at most: those of the numbered pages."""
    return last_numbered(settings) * settings.page_size


def words_shown(asked: SearchRequest, shown: Sequence[str]) -> list[str]:
    """The fields that a list of words brings along for `fused`."""
    titled = [f"{TITLED}:query(${TITLED_PARAMETER},0)"] if title_keys(asked.query.text) else []
    return [*shown, "score", *titled]


def fused(
    words: Answer, neighbours: Answer, vector: QueryVector, weight: float, most: int, collapsed: int
) -> Candidates:
    """Both answers as one list of at most `most`, what has the query for its title first. Documents carry `score`;
    `words` has each cluster once, and there are `collapsed` of those in all.
    """
    found, near = _by_cluster(words), _by_cluster(neighbours)
    titled = [cluster for cluster, doc in found.items() if float(doc.get(TITLED, 0.0)) > 0]
    by_words = _scaled({one: doc for one, doc in found.items() if one not in titled})
    by_words |= dict.fromkeys(titled, max(by_words.values(), default=1.0))
    by_meaning = _scaled({one: {**doc, "score": _lifted(doc)} for one, doc in near.items()})
    alone = {one for one, doc in near.items() if one not in found and cosine_of(doc) >= vector.near_enough}
    made = {
        one: Candidate(doc, by_words.get(one, 0.0), weight * by_meaning.get(one, 0.0), one in alone)
        for one, doc in (near | found).items()
        if one in found or one in alone
    }
    order = sorted(made, key=lambda one: (one not in titled, -made[one].score, one))[:most]
    shown = {one: str(doc[fields.ID]) for one, doc in (near | found).items()}
    return Candidates(
        vector,
        tuple(made[one] for one in order),
        collapsed - sum(one in found for one in order),
        tuple((shown[one], cosine_of(doc)) for one, doc in reversed(near.items())),
        tuple(shown[one] for one in reversed(found)),
    )


def cosine_of(doc: Doc) -> float:
    """The cosine behind Solr's score of a neighbour."""
    return 2 * float(doc["score"]) - 1


def _lifted(doc: Doc) -> float:
    """The cosine of a neighbour with what others think of it, as the words' scores have it (`Profile.authority`)."""
    return cosine_of(doc) * (1 + NEIGHBOURS_AUTHORITY * float(doc.get(fields.AUTHORITY, 0.0)))


def cluster_of(doc: Doc) -> str:
    """What a document has in common with its copies."""
    return str(doc.get(fields.CLUSTER, doc.get(fields.ID)))


def _scaled(docs: Mapping[str, Doc]) -> dict[str, float]:
    """Scores in standard deviations above the lowest; all 1 where they do not differ."""
    scores = {key: float(doc["score"]) for key, doc in docs.items()}
    low, spread = min(scores.values(), default=0.0), pstdev(scores.values()) if scores else 0.0
    return {key: (score - low) / spread if spread else 1.0 for key, score in scores.items()}


def _by_cluster(answer: Answer) -> dict[str, Doc]:
    """The first document of each cluster in an answer."""
    docs: Sequence[Doc] = answer.get("response", {}).get("docs", ())
    return {cluster_of(doc): doc for doc in reversed(docs)}
