"""Train the term models: `python -m benchmarks.training.terms DATA [--without SET] [--out DIR]`.

DATA has the form of ../shared/data: DATA/terms/SET/{docs.jsonl.gz,gold.tsv} with an optional `seed.txt`. Chinese and
English sets give one model each (data/terms_zh.npz, data/terms_en.npz).

    gaps        begins, ends, continues: positions of the longest gold terms in the text; logistic regression over words
    candidates  gold or not; logistic regression over features. The gaps of a set are predicted by a model that has
                not seen this set, as it will be for texts without annotation
"""

import argparse
import gzip
import json
import unicodedata
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from benchmarks.terms_models import counted_corpus, expand_features, save_model, zero_model
from lexicon.c_value.candidates import normalize_text
from lexicon.counting.ngram_table import NgramRows, NgramTable
from lexicon.counting.occurrences import STEPS_PER_LOG_ODDS, Occurrences, find_occurrences
from lexicon.counting.tokens import Tokens, detect_line_language, tokenize_texts
from lexicon.model.boundaries import TAG_PAIR_POSITIONS, WINDOW_WORDS, BoundaryModel, BoundaryScorer
from lexicon.model.classifier import MAX_STANDARD_SCORE, CandidateModel, Standardizer
from lexicon.model.row_features import WordFeatureArrays, compute_features
from lexicon.model.term_model import LANGUAGES, TermModel, iter_spellings
from lexicon.model.word_features import TAGS_BY_LANGUAGE, WORD_FEATURES
from text.folding import word_key

Floats = NDArray[np.float32]

SEEN_AT_LEAST = 3  # a word has weights of its own if so often in a set, and that in two sets
CANDIDATES_A_WORD = 0.5  # candidates per word of the corpus; the most likely rows are used
GAP_PENALTY = 0.1  # scikit-learn's C
CANDIDATE_PENALTY = {"zh": 0.0005, "en": 0.0005}  # the same
QUALITIES = ("adj", "ed", "ly", "verb", "general", "adverb")  # tags of English words that are no term alone
LOST = 0.025  # of the gold spans are never counted, so that most other spans need not be
WEIGHT = 1e5  # of each set in a fit, whatever its size


@dataclass(frozen=True)
class GoldSet:
    """An annotated corpus with counts: every span is a row. `verdicts` (3, gaps): begins, ends, continues."""

    name: str
    table: NgramTable
    tokens: Tokens
    spans: Occurrences
    is_gold: NDArray[np.bool_]
    verdicts: NDArray[np.bool_]


def load_set(folder: Path) -> GoldSet:
    """Load the set in a folder. Terms of its seed dictionary are gold too."""
    with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [normalize_text(json.loads(line)["text"]) for line in lines]
    gold = {key for name in ("gold.tsv", "seed.txt") if (folder / name).exists() for key in terms_in(folder / name)}
    language = Counter(map(detect_line_language, texts)).most_common(1)[0][0]
    table = NgramTable()
    tokens = tokenize_texts(texts, language, np.arange(len(texts)), table.vocabulary)
    spans = find_occurrences(tokens, table.vocabulary, BoundaryScorer(zero_model(language)), -np.inf)
    table.add([(tokens, spans)])
    rows = table.rows()
    is_gold = np.fromiter(
        (word_key(text) in gold for text in iter_spellings(counted_corpus(table), rows)), dtype=bool, count=len(rows)
    )
    is_gold &= ~are_qualities(table, rows, language)
    golden = is_gold[np.searchsorted(rows.keys, spans.keys)]
    return GoldSet(folder.name, table, tokens, spans, is_gold, verdicts(spans, golden, len(tokens.word_ids)))


def are_qualities(table: NgramTable, rows: NgramRows, language: str) -> NDArray[np.bool_]:
    """Return which rows are a single English word that is not a noun.

    Some sets list `cardiac` in addition to `cardiac arrest`, others do not. Training uses only noun phrases, which
    users search for.
    """
    if language != "en":
        return np.zeros(len(rows), dtype=bool)
    tags = table.vocabulary.features.tag_ids(language)[rows.word_ids[0]]
    found: NDArray[np.bool_] = (rows.word_ids[1] < 0) & np.isin(
        tags, [TAGS_BY_LANGUAGE[language].index(name) for name in QUALITIES]
    )
    return found


def terms_in(path: Path) -> set[str]:
    """Return the terms in the first column of a file."""
    with path.open(encoding="utf-8") as lines:
        rows = (line.rstrip("\n").split("\t")[0] for line in lines)
        return {word_key(unicodedata.normalize("NFKC", term)) for term in rows if len(term) > 1}


def verdicts(spans: Occurrences, golden: NDArray[np.bool_], words: int) -> NDArray[np.bool_]:
    """Return the labels of each gap, from the longest gold terms, matched from the left."""
    marks = np.zeros((3, words + 1), dtype=bool)
    taken = np.zeros(words, dtype=bool)
    which = np.flatnonzero(golden)
    for at in which[np.lexsort((spans.starts[which], -spans.sizes[which]))].tolist():
        start, end = spans.starts[at], spans.starts[at] + spans.sizes[at]
        if not taken[start:end].any():
            taken[start:end] = True
            marks[0, start] = marks[1, end] = True
            marks[2, start + 1 : end] = True
    return marks


def fit_boundaries(sets: Sequence[GoldSet]) -> BoundaryModel:
    """Fit the boundary model on all `sets`, each with equal weight."""
    language = sets[0].tokens.language
    lexical = common_words(sets)
    whole = scipy.sparse.vstack([gap_matrix(one, lexical) for one in sets]).tocsr()
    of_set = np.repeat(np.arange(len(sets)), [one.verdicts.shape[1] for one in sets])
    own = one_hot(of_set, len(sets)) * 3.0  # how much of a text is marked at all is a matter of the set
    weight = WEIGHT / np.bincount(of_set)[of_set]
    fits = []
    for verdict in range(3):
        right = np.concatenate([one.verdicts[verdict] for one in sets])
        model = LogisticRegression(C=GAP_PENALTY, max_iter=60, tol=1e-3)
        fits.append(model.fit(scipy.sparse.hstack([whole, own]).tocsr(), right, weight))
    intercept = [fit.intercept_[0] + 3.0 * fit.coef_[0][-len(sets) :].mean() for fit in fits]
    weights = np.stack([fit.coef_[0][: -len(sets)] for fit in fits], axis=1).astype(np.float16).astype(np.float32)
    return unpacked(language, lexical, weights, np.array(intercept, dtype=np.float16).astype(np.float32))


def unpacked(language: str, lexical: Sequence[str], weights: Floats, intercept: Floats) -> BoundaryModel:
    """Convert `weights`, in the order of `gap_matrix`, to a model."""
    tags, numbers = len(TAGS_BY_LANGUAGE[language]), len(WORD_FEATURES)
    by_place = weights[: WINDOW_WORDS * (numbers + tags + len(lexical))].reshape(WINDOW_WORDS, -1, 3)
    pairs = weights[WINDOW_WORDS * by_place.shape[1] :].reshape(len(TAG_PAIR_POSITIONS), tags * tags, 3)
    return BoundaryModel(
        language,
        tuple(lexical),
        by_place[:, :numbers],
        by_place[:, numbers : numbers + tags],
        by_place[:, numbers + tags :],
        pairs,
        intercept,
    )


def common_words(sets: Sequence[GoldSet]) -> list[str]:
    """Return words that are frequent in at least two sets, mostly function words."""
    found: Counter[str] = Counter()
    for one in sets:
        often = np.flatnonzero(np.bincount(one.tokens.word_ids) >= SEEN_AT_LEAST).tolist()
        found.update({one.table.vocabulary.words[number].lower() for number in often} - {"\n"})
    return sorted(word for word, count in found.items() if count >= min(2, len(sets)))


def gap_matrix(one: GoldSet, lexical: Sequence[str]) -> scipy.sparse.csr_matrix:
    """Return one row per gap; `unpacked` reads the same columns."""
    language, words = one.tokens.language, one.table.vocabulary.words
    about = one.table.vocabulary.features
    index = {word: number for number, word in enumerate(lexical)}
    own = np.array([index.get(word.lower(), len(lexical)) for word in words])
    each = scipy.sparse.hstack(
        [
            scipy.sparse.csr_matrix(about.features),
            one_hot(about.tag_ids(language), len(TAGS_BY_LANGUAGE[language])),
            one_hot(own, len(lexical) + 1)[:, :-1],
        ]
    ).tocsr()
    padded = np.concatenate([[0, 0], one.tokens.word_ids, [0, 0]])
    gaps, tags = len(one.tokens.word_ids) + 1, about.tag_ids(language)[padded]
    places = [each[padded[place : place + gaps]] for place in range(WINDOW_WORDS)]
    size = len(TAGS_BY_LANGUAGE[language])
    pairs = [
        one_hot(tags[left : left + gaps] * size + tags[right : right + gaps], size**2)
        for left, right in TAG_PAIR_POSITIONS
    ]
    return scipy.sparse.hstack([*places, *pairs]).tocsr().astype(np.float32)


def one_hot(values: NDArray[np.int64], size: int) -> scipy.sparse.csr_matrix:
    """Return a row of `size` columns for each value, with 1 in the column of the value."""
    ones = np.ones(len(values), dtype=np.float32)
    return scipy.sparse.csr_matrix((ones, (np.arange(len(values)), values)), shape=(len(values), size))


@dataclass(frozen=True)
class Examples:
    """The candidates of a set as examples: `columns` (rows, features), and the gold labels."""

    columns: Floats
    is_gold: NDArray[np.bool_]
    likely_floor: float


def examples(one: GoldSet, boundaries: BoundaryModel) -> Examples:
    """Return the most likely rows of a set according to `boundaries`."""
    table = NgramTable(one.table.vocabulary)
    table.add([(one.tokens, find_occurrences(one.tokens, table.vocabulary, BoundaryScorer(boundaries), -np.inf))])
    rows: NgramRows = table.rows()
    count = min(len(rows), int(CANDIDATES_A_WORD * len(one.tokens.word_ids)))
    floor = np.partition(rows.best_log_probability, -count)[-count]
    chosen = np.flatnonzero(rows.best_log_probability >= floor)
    facts = WordFeatureArrays.from_corpus(counted_corpus(table), one.tokens.language, rows.word_ids)
    columns = compute_features(rows.take(chosen), facts, counted_corpus(table).total_words)
    return Examples(columns, one.is_gold[chosen], float(floor) / STEPS_PER_LOG_ODDS)


def fit_candidates(language: str, given: Sequence[Examples]) -> CandidateModel:
    """Fit the candidate model on the examples of all sets, each with equal weight."""
    units = [Standardizer.from_rows(one.columns) for one in given]
    wide = np.vstack([expand_features(one.columns, language, own) for one, own in zip(given, units, strict=True)])
    right = np.concatenate([one.is_gold for one in given])
    weight = np.concatenate([np.full(len(one.is_gold), WEIGHT / len(one.is_gold)) for one in given])
    whole = Standardizer.from_rows(wide)
    fit = LogisticRegression(C=CANDIDATE_PENALTY[language], max_iter=150, tol=1e-3)
    fit.fit(np.clip((wide - whole.mean) / whole.scale, -MAX_STANDARD_SCORE, MAX_STANDARD_SCORE), right, weight)
    usual = Standardizer(np.mean([own.mean for own in units], axis=0), np.mean([own.scale for own in units], axis=0))
    return CandidateModel(language, usual, whole, fit.coef_[0].astype(np.float32), float(fit.intercept_[0]))


def own_floor(sets: Sequence[GoldSet], boundaries: BoundaryModel) -> float:
    """Return the log-odds that nearly all gold spans reach."""
    reached = []
    for one in sets:
        at = BoundaryScorer(boundaries)
        at.add_words(one.table.vocabulary, one.tokens.word_ids)
        golden = one.is_gold[np.searchsorted(one.table.rows().keys, one.spans.keys)]
        begins, ends, inside = at.standalone_scores(one.tokens.word_ids)
        flow = np.concatenate([[0], np.cumsum(-np.logaddexp(0, -inside.astype(np.float64)))])
        first, last = one.spans.starts[golden], (one.spans.starts + one.spans.sizes)[golden] - 1
        reached.append(np.quantile(begins[first] + ends[last] + flow[last + 1] - flow[first + 1], LOST))
    return float(np.mean(reached))


class Trainer:
    """Fits models for any selection of some sets of one language; parts that two selections share are fitted once."""

    def __init__(self, sets: Sequence[GoldSet]) -> None:
        self._sets = {one.name: one for one in sets}
        self._boundaries: dict[frozenset[str], BoundaryModel] = {}

    def fit(self, names: frozenset[str]) -> TermModel:
        """Fit the model on these sets, at least two."""
        boundaries = self._fit_boundaries(names)
        sets = [self._sets[name] for name in sorted(names)]
        given = [examples(one, self._fit_boundaries(names - {one.name})) for one in sets]
        language = sets[0].tokens.language
        likely = float(np.mean([one.likely_floor for one in given]))
        return TermModel(boundaries, fit_candidates(language, given), own_floor(sets, boundaries), likely)

    def _fit_boundaries(self, names: frozenset[str]) -> BoundaryModel:
        if names not in self._boundaries:
            self._boundaries[names] = fit_boundaries([self._sets[name] for name in sorted(names)])
        return self._boundaries[names]


def load_sets(data: Path) -> list[GoldSet]:
    """Load all sets of a folder, sorted by name."""
    return [load_set(folder) for folder in sorted((data / "terms").iterdir()) if (folder / "gold.tsv").exists()]


def main() -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--without", action="append", default=[], help="set to leave out")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "data")
    given = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # the figures do not gain by more steps
    sets = [one for one in load_sets(given.data) if one.name not in given.without]
    for language in LANGUAGES:
        chosen = [one for one in sets if one.tokens.language == language]
        model = Trainer(chosen).fit(frozenset(one.name for one in chosen))
        save_model(model, given.out / f"terms_{language}.npz")


if __name__ == "__main__":
    main()
