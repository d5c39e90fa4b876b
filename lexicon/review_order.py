"""The order of review, learned from the decisions taken so far (active learning).

A small logistic regression over the parts of a candidate's score and the characters of its word. What the miner thinks
is the prior: some candidates, each counted as so much term as its score says, are trained on beside the decisions.
So the first decisions change little, and many of them outweigh the score.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression

from docstore.model import Term, TermStatus

PRIOR_TERMS = 400  # candidates that stand for the prior
PRIOR_WEIGHT = 40.0  # decisions that all of them together are worth
MAX_DECISIONS = 2_000  # the latest ones; older ones say less
LEAST = 5  # decisions to learn anything from
HASHES = 2**13
CHARACTERS_WEIGHT = 0.5  # of a hashed character beside a part of the score, which is in standard deviations
REGULARISATION = 0.3  # scikit-learn's C
GOOD = frozenset({TermStatus.ACCEPTED, TermStatus.MERGED})

Floats = NDArray[np.float64]


def review_order(decided: Sequence[Term], candidates: Sequence[Term]) -> dict[str, float]:
    """How likely each candidate is to be accepted, by what was accepted and rejected before. Deterministic.

    `decided` stands the latest first. With next to no decisions it is what the scores say.
    """
    decided = decided[:MAX_DECISIONS]
    prior = prior_of(candidates)
    if len(decided) < LEAST or not candidates:
        return dict(zip((term.text for term in candidates), prior.tolist(), strict=True))
    everything = [*candidates, *decided]
    columns = _columns(everything, np.concatenate([prior, prior_of(decided, candidates)]))
    sample = np.linspace(0, len(candidates) - 1, min(PRIOR_TERMS, len(candidates))).astype(int)
    taken = np.arange(len(candidates), len(everything))
    said = np.array([term.status in GOOD for term in decided], dtype=np.float64)
    rows = np.concatenate([taken, sample, sample])
    labels = np.concatenate([said, np.ones(len(sample)), np.zeros(len(sample))]).astype(int)
    share = PRIOR_WEIGHT / len(sample)
    weights = np.concatenate([np.ones(len(taken)), prior[sample] * share, (1 - prior[sample]) * share])
    model = LogisticRegression(C=REGULARISATION, solver="liblinear", random_state=0).fit(columns[rows], labels, weights)
    likely = model.predict_proba(columns[: len(candidates)])[:, 1]
    return dict(zip((term.text for term in candidates), likely.tolist(), strict=True))


def prior_of(terms: Sequence[Term], among: Sequence[Term] = ()) -> Floats:
    """How likely each term is one by its score: the score where scores are probabilities, else its place among all."""
    scores = np.array([term.score for term in terms], dtype=np.float64)
    all_scores = np.array([term.score for term in (*terms, *among)], dtype=np.float64)
    if not len(scores):
        return scores
    if all_scores.min() >= 0 and all_scores.max() <= 1:
        return np.clip(scores, 0.01, 0.99)
    ranks = np.searchsorted(np.sort(all_scores), scores, side="right") / len(all_scores)
    place: Floats = 0.1 + 0.8 * ranks
    return place


def _columns(terms: Sequence[Term], prior: Floats) -> scipy.sparse.csr_matrix:
    names = sorted({name for term in terms for name, _ in term.parts})
    parts = np.array([[dict(term.parts).get(name, 0.0) for name in names] for term in terms]).reshape(len(terms), -1)
    counts = np.log1p(np.array([(term.frequency, term.documents, len(term.text)) for term in terms], dtype=np.float64))
    odds = np.log(prior / (1 - prior))[:, None]
    numbers = np.hstack([odds, counts, parts])
    numbers = (numbers - numbers.mean(axis=0)) / (numbers.std(axis=0) + 1e-9)
    # ^ and $ are no characters of words: pairs with them are first and last characters.
    hashed = HashingVectorizer(analyzer="char", ngram_range=(1, 2), n_features=HASHES, norm="l2", lowercase=True)
    characters = hashed.transform([f"^{term.text}$" for term in terms]) * CHARACTERS_WEIGHT
    return scipy.sparse.hstack([scipy.sparse.csr_matrix(np.clip(numbers, -4, 4)), characters], format="csr")
