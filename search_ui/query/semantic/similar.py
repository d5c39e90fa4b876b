"""What is like an article: by its words, and by its meaning where it has a vector. Pure.

Each way gives a list, and a document counts by its places in both (reciprocal ranks: Cormack, Clarke, Büttcher 2009,
"Reciprocal rank fusion outperforms Condorcet and individual rank learning methods"). Copies and the other articles of
its series are not what is meant.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from docstore import fields
from search_ui.query.clauses import ALL, Clause, Parameter, Params, select_params
from search_ui.query.semantic.meaning import QueryVector, cosine_of
from search_ui.query.solr_client import Answer

CANDIDATES = 30  # of each list
PLACES_BEFORE = 10  # how slowly the worth of a place falls

_MLT = {"mintf": "1", "mindf": "2", "maxdfpct": "20", "minwl": "2", "maxqt": "25", "boost": "true"}


def alike_params(doc_id: str, cluster: str, series: str, shown: Sequence[str]) -> Params:
    """What is like an article by the pairs of characters that tell it from others.

    Those that are in a fifth of all documents, and single characters, tell nothing.
    """
    looked_in = f"'{fields.BODY} {fields.TITLE}'"
    like = Clause("mlt", (("qf", looked_in), *_MLT.items(), ("v", Parameter("doc", doc_id))))
    each = Clause.one_of_each_cluster(f"score desc,{fields.ID} asc")
    return select_params(like, [_others(cluster, series), each], CANDIDATES, shown)


def nearest_params(vector: QueryVector, cluster: str, series: str, shown: Sequence[str]) -> Params:
    """What is nearest to an article in meaning; `vector` is its own."""
    text = "[" + ",".join(map(str, vector.values)) + "]"
    nearest = Clause("knn", (("f", vector.field), ("topK", str(CANDIDATES)), ("v", Parameter("vector", text))))
    return select_params(nearest, [_others(cluster, series)], CANDIDATES, (*shown, "score"))


def _others(cluster: str, series: str) -> Clause:
    copies = Parameter("copies", Clause.one_value(fields.CLUSTER, "cluster", cluster))
    members = Parameter("members", Clause.one_value(fields.SERIES, "series", series))
    return Clause.boolean(must=[ALL], must_not=[copies, members])


def near_alone(answer: Answer, vector: QueryVector) -> Answer:
    """An answer to `nearest_params` without what is not near: there is always a nearest."""
    docs = [doc for doc in answer.get("response", {}).get("docs", ()) if cosine_of(doc) >= vector.near_enough]
    return {"response": {"numFound": len(docs), "docs": docs}}


def fused_similar(answers: Sequence[Answer], most: int) -> Answer:
    """Solr's answers as one, of each cluster the first, at most so many documents."""
    worth: dict[str, float] = defaultdict(float)
    docs: dict[str, Mapping[str, Any]] = {}
    for answer in answers:
        listed = {_cluster(doc): doc for doc in reversed(answer.get("response", {}).get("docs", ()))}
        for place, (cluster, doc) in enumerate(reversed(listed.items())):
            worth[cluster] += 1 / (PLACES_BEFORE + place)
            docs.setdefault(cluster, doc)
    best = sorted(worth, key=lambda cluster: (-worth[cluster], cluster))[:most]
    return {"response": {"numFound": len(best), "docs": [docs[cluster] for cluster in best]}}


def _cluster(doc: Mapping[str, Any]) -> str:
    return str(doc.get(fields.CLUSTER, doc.get(fields.ID)))
