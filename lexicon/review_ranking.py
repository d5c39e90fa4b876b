"""Order of review, learned from the decisions so far (active learning).

A small logistic regression over the parts of a candidate's score and the characters of its word. The miner's score is
the prior: a sample of candidates is added as training examples, weighted by their score. Few decisions therefore change
the order little, while many decisions outweigh the score.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression

from domain.term import Term, TermStatus
from lexicon.arrays import Float64Array

PRIOR_SAMPLE_SIZE = 400  # candidates used as prior training examples
PRIOR_DECISIONS = 40.0  # total weight of the prior examples; each decision weighs 1
MAX_DECISIONS = 2_000  # latest decisions used
MIN_DECISIONS = 5  # minimum number of decisions for a model
HASH_FEATURES = 2**13  # columns of the hashed characters
CHARACTER_FEATURE_WEIGHT = 0.5  # scale of hashed character features; numeric features have standard deviation 1
LOGISTIC_C = 0.3  # C of scikit-learn's LogisticRegression
POSITIVE_STATUSES = frozenset({TermStatus.ACCEPTED, TermStatus.MERGED})


def predict_acceptance(decided_terms: Sequence[Term], candidates: Sequence[Term]) -> dict[str, float]:
    """Return the probability of acceptance by candidate text. Deterministic.

    With fewer than MIN_DECISIONS decisions it follows from the scores only.

    Args:
        decided_terms: decided terms, latest decision first.
        candidates: undecided terms.
    """
    decided_terms = decided_terms[:MAX_DECISIONS]
    prior = score_priors(candidates)
    if len(decided_terms) < MIN_DECISIONS or not candidates:
        return dict(zip((term.text for term in candidates), prior.tolist(), strict=True))
    all_terms = [*candidates, *decided_terms]
    columns = _feature_matrix(all_terms, np.concatenate([prior, score_priors(decided_terms, candidates)]))
    sample = np.linspace(0, len(candidates) - 1, min(PRIOR_SAMPLE_SIZE, len(candidates))).astype(int)
    decided_rows = np.arange(len(candidates), len(all_terms))
    decision_labels = np.array([term.status in POSITIVE_STATUSES for term in decided_terms], dtype=np.float64)
    rows = np.concatenate([decided_rows, sample, sample])
    labels = np.concatenate([decision_labels, np.ones(len(sample)), np.zeros(len(sample))]).astype(int)
    sample_weight = PRIOR_DECISIONS / len(sample)
    weights = np.concatenate(
        [np.ones(len(decided_rows)), prior[sample] * sample_weight, (1 - prior[sample]) * sample_weight]
    )
    model = LogisticRegression(C=LOGISTIC_C, solver="liblinear", random_state=0).fit(columns[rows], labels, weights)
    acceptance = model.predict_proba(columns[: len(candidates)])[:, 1]
    return dict(zip((term.text for term in candidates), acceptance.tolist(), strict=True))


def score_priors(terms: Sequence[Term], reference_terms: Sequence[Term] = ()) -> Float64Array:
    """Return a probability for each term from its score.

    If all scores are between 0 and 1 they count as probabilities, otherwise the rank among all terms is used.
    """
    scores = np.array([term.score for term in terms], dtype=np.float64)
    all_scores = np.array([term.score for term in (*terms, *reference_terms)], dtype=np.float64)
    if not len(scores):
        return scores
    if all_scores.min() >= 0 and all_scores.max() <= 1:
        return np.clip(scores, 0.01, 0.99)
    ranks = np.searchsorted(np.sort(all_scores), scores, side="right") / len(all_scores)
    rank_probability: Float64Array = 0.1 + 0.8 * ranks
    return rank_probability


def _feature_matrix(terms: Sequence[Term], prior: Float64Array) -> scipy.sparse.csr_matrix:
    names = sorted({name for term in terms for name, _ in term.score_components})
    parts = np.array([[dict(term.score_components).get(name, 0.0) for name in names] for term in terms]).reshape(
        len(terms), -1
    )
    counts = np.log1p(
        np.array([(term.frequency, term.document_count, len(term.text)) for term in terms], dtype=np.float64)
    )
    log_odds = np.log(prior / (1 - prior))[:, None]
    numeric_features = np.hstack([log_odds, counts, parts])
    numeric_features = (numeric_features - numeric_features.mean(axis=0)) / (numeric_features.std(axis=0) + 1e-9)
    # ^ and $ never occur in words, so pairs with them are first and last characters.
    vectorizer = HashingVectorizer(
        analyzer="char", ngram_range=(1, 2), n_features=HASH_FEATURES, norm="l2", lowercase=True
    )
    characters = vectorizer.transform([f"^{term.text}$" for term in terms]) * CHARACTER_FEATURE_WEIGHT
    return scipy.sparse.hstack([scipy.sparse.csr_matrix(np.clip(numeric_features, -4, 4)), characters], format="csr")
