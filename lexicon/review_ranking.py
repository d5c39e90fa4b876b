"""Order of review: by the expected gain of a decision, with the probabilities learned from the decisions so far.

The gain is documents × uncertainty × searches. A small logistic regression over the parts of a candidate's score and
the characters of its word predicts whether it is accepted. The miner's score is the prior: a sample of candidates is
added as training examples, weighted by their score. Few decisions therefore change little, while many decisions
outweigh the score.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import scipy.sparse
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression

from domain.review import CandidateKind
from domain.term import Term, TermStatus
from lexicon.arrays import Float64Array
from text.scripts import char_script

PRIOR_SAMPLE_SIZE = 400  # candidates used as prior training examples
PRIOR_DECISIONS = 40.0  # total weight of the prior examples; each decision weighs 1
MAX_DECISIONS = 2_000  # latest decisions used
MIN_DECISIONS = 5  # minimum number of decisions for a model
HASH_FEATURES = 2**13  # columns of the hashed characters
CHARACTER_FEATURE_WEIGHT = 0.5  # scale of hashed character features; numeric features have standard deviation 1
LOGISTIC_C = 0.3  # C of scikit-learn's LogisticRegression
MIN_LANGUAGE_SHARE = 0.01  # so that the terms of a language without articles come late, but come
KEPT_PLACES = 40  # first candidates that new decisions do not move: two pages of the list
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


def rank_candidates(
    candidates: Sequence[Term],
    acceptance: Mapping[str, float],
    kinds: Mapping[str, CandidateKind],
    search_counts: Mapping[str, int],
    article_counts: Mapping[str, int],
    kept_texts: Collection[str] = (),
) -> dict[str, float]:
    """Return the sort key of each candidate by text, highest first; the keys of candidates with a kind are negative.

    Each language gets the share of the list that it has of the articles. Candidates with a kind are last, by kind.

    Args:
        candidates: undecided terms.
        acceptance: probability of acceptance by text.
        kinds: kinds of those candidates that are seldom terms.
        search_counts: number of searches that contain a candidate, by text.
        article_counts: number of articles by language tag.
        kept_texts: the first candidates of the current order that a reviewer may see, which stay where they are.
    """
    probabilities = np.clip([acceptance[term.text] for term in candidates], 0.01, 0.99)
    entropies = -(probabilities * np.log2(probabilities) + (1 - probabilities) * np.log2(1 - probabilities))
    gains = {
        term.text: term.document_count * entropy * (1 + search_counts.get(term.text, 0))
        for term, entropy in zip(candidates, entropies.tolist(), strict=True)
    }
    shares = _language_shares(article_counts)
    ranks, positions = defaultdict[tuple[str, str], int](int), dict[str, tuple[str, float]]()
    for text in sorted(gains, key=lambda text: (-gains[text], text)):
        kind, language = str(kinds.get(text, "")), _find_language(text)
        positions[text] = kind, (ranks[kind, language] + 0.5) / shares[language]
        ranks[kind, language] += 1
    kept_ranks = {text: rank for rank, text in enumerate(kept_texts)}
    order = sorted(positions, key=lambda text: (kept_ranks.get(text, len(kept_ranks)), *positions[text], text))
    return {text: -rank if text in kinds else 1 / rank for rank, text in enumerate(order, start=1)}


def _language_shares(article_counts: Mapping[str, int]) -> dict[str, float]:
    """Return the share of the articles by language of the terms (`_find_language`). Japanese has terms of two."""
    counts = dict.fromkeys(("zh", "ja", "ko", "other"), 0)
    for tag, count in article_counts.items():
        language = tag.partition("-")[0]
        counts[language if language in counts else "other"] += count
    counts["zh"] += counts["ja"]
    total_count = max(1, sum(article_counts.values()))
    return {language: max(count / total_count, MIN_LANGUAGE_SHARE) for language, count in counts.items()}


def _find_language(text: str) -> str:
    """Return the language that the script of a term shows: zh, ja, ko or other."""
    scripts = {char_script(char) for char in text}
    languages = (("ja", "Hiragana"), ("ja", "Katakana"), ("ko", "Hangul"), ("zh", "Han"))
    return next((language for language, script in languages if script in scripts), "other")


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
