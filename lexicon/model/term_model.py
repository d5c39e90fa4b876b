"""The learned term model: two small linear models in sequence, with weights shipped as data.

    text -> words -> gap scores (boundaries.py) -> span counts (ngram_table.py) -> row features -> probability

`python -m benchmarks.training.terms` trains the weights with scikit-learn. Applying them needs only numpy.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from domain.progress import ProgressTask, no_progress, track
from lexicon.arrays import BoolArray, Float32Array, Int64Array
from lexicon.counting.ngram_table import CountedCorpus, NgramRows, NgramTable
from lexicon.counting.occurrences import STEPS_PER_LOG_ODDS, find_occurrences
from lexicon.counting.tokens import split_by_language, tokenize_texts
from lexicon.known_terms import adjust_log_odds
from lexicon.model.boundaries import BoundaryModel, BoundaryScorer
from lexicon.model.classifier import CandidateClassifier, CandidateModel, Standardizer
from lexicon.model.row_features import WordFeatureArrays, compute_features
from lexicon.model.word_features import TAGS_BY_LANGUAGE

LANGUAGES = ("zh", "en")
COUNTING_VERSION = 4  # increase whenever counting of an unchanged text changes
ROWS_PER_BLOCK = 2048  # rows scored at a time
MAX_SAMPLE_ROWS = 20_000  # rows that the feature statistics of a corpus are computed from


@dataclass(frozen=True)
class TermModel:
    """Models of one language.

    Attributes:
        boundary_model: scores gaps between words.
        candidate_model: scores rows.
        min_span_log_odds: own log-odds that a span needs to be counted.
        min_row_log_probability: best log-probability that a row needs to be scored.
    """

    boundary_model: BoundaryModel
    candidate_model: CandidateModel
    min_span_log_odds: float
    min_row_log_probability: float


ModelByLanguage = Mapping[str, TermModel]


class SpanCounter:
    """Counts the candidate spans of texts into `table`."""

    def __init__(self, models: ModelByLanguage) -> None:
        self.table = NgramTable()
        self._models = models
        self._boundary_scorers = {language: BoundaryScorer(model.boundary_model) for language, model in models.items()}

    def add(self, texts: Sequence[str], document_ids: Int64Array) -> None:
        """Count normalized texts, each a complete document."""
        table, parts = self.table, []
        for language, language_texts, language_document_ids in split_by_language(texts, document_ids):
            tokens = tokenize_texts(language_texts, language, language_document_ids, table.vocabulary)
            floor = self._models[language].min_span_log_odds
            parts.append((tokens, find_occurrences(tokens, table.vocabulary, self._boundary_scorers[language], floor)))
        table.add(parts)


@dataclass(frozen=True)
class CandidateSelection:
    """Rows to rank, and a `sample` of all rows for the feature statistics of the corpus."""

    rows: NgramRows
    sample: NgramRows
    corpus: CountedCorpus


def is_likely(rows: NgramRows, models: ModelByLanguage) -> BoolArray:
    """Return a mask of the rows that must be scored, by their best log-probability."""
    floors = [models[language].min_row_log_probability * STEPS_PER_LOG_ODDS for language in LANGUAGES]
    is_above_floor: BoolArray = rows.best_log_probability >= np.where(rows.is_english, floors[1], floors[0])
    return is_above_floor


def rank_rows(
    models: ModelByLanguage,
    selection: CandidateSelection,
    known_terms: Collection[str] = (),
    probability: float = 0.0,
    progress_task: ProgressTask = no_progress,
) -> tuple[NgramRows, Float32Array]:
    """Return the rows above `probability` and their probabilities, most likely first, then by frequency and key.

    Each language has its own model and statistics.

    Args:
        models: models by language.
        selection: candidate rows.
        known_terms: `word_key`s of known terms, which adjust the scores of all candidates.
        probability: minimum probability (exclusive).
        progress_task: reports the number of scored blocks of rows.
    """
    rows, log_odds = selection.rows, np.zeros(len(selection.rows), np.float32)
    for language_index, language in enumerate(LANGUAGES):
        language_rows = np.flatnonzero(rows.is_english == bool(language_index))
        if len(language_rows):
            log_odds[language_rows] = score_rows(models[language], selection, language_rows, known_terms, progress_task)
    scores = (1 / (1 + np.exp(-log_odds))).astype(np.float32)
    above_threshold = np.flatnonzero(scores > probability)
    order = above_threshold[
        np.lexsort((rows.keys[above_threshold], -rows.frequency[above_threshold], -log_odds[above_threshold]))
    ]
    return rows.take(order), scores[order]


def score_rows(
    model: TermModel,
    selection: CandidateSelection,
    row_indices: Int64Array,
    known_terms: Collection[str],
    progress_task: ProgressTask,
) -> Float32Array:
    """Return the log-odds of being a term for the rows `row_indices`, which must have one language.

    Feature statistics of the corpus come from the sample.
    """
    rows, corpus, language = selection.rows, selection.corpus, model.boundary_model.language
    sample = selection.sample.take(selection.sample.is_english == (language == "en"))
    word_features = WordFeatureArrays.from_corpus(corpus, language, rows.word_ids[:, row_indices], sample.word_ids)
    corpus_scaler = model.candidate_model.training_scaler
    if len(sample):
        corpus_scaler = Standardizer.from_rows(
            compute_features(sample, word_features, corpus.total_words)
        ).shrink_towards(corpus_scaler, len(sample))
    classifier = CandidateClassifier(model.candidate_model, corpus_scaler, word_features, corpus.total_words)
    blocks = [row_indices[start : start + ROWS_PER_BLOCK] for start in range(0, len(row_indices), ROWS_PER_BLOCK)]
    tracked_blocks = track(progress_task, "lexicon: score", blocks)
    log_odds = np.concatenate([classifier.log_odds(rows.take(block)) for block in tracked_blocks])
    if not known_terms:
        return log_odds
    language_row_data = rows.take(row_indices)
    return adjust_log_odds(
        log_odds, language_row_data, list(iter_spellings(corpus, language_row_data)), word_features, known_terms
    )


def iter_spellings(corpus: CountedCorpus, rows: NgramRows) -> Iterator[str]:
    """Yield each row as text, with the most frequent spelling of each word."""
    usual_spellings = corpus.usual_spellings
    for row in rows.word_ids.T.tolist():
        first, *later_words = (usual_spellings[word_id] for word_id in row if word_id >= 0)
        yield first.strip(" ") + "".join(later_words)


def iter_tag_sequences(corpus: CountedCorpus, rows: NgramRows) -> Iterator[str]:
    """Yield the tags of each row's words, such as `n n`."""
    for words, is_english in zip(rows.word_ids.T, rows.is_english.tolist(), strict=True):
        language = "en" if is_english else "zh"
        tags = corpus.vocabulary.features.tag_ids(language, words[words >= 0])
        yield " ".join(TAGS_BY_LANGUAGE[language][tag] for tag in tags.tolist())


@cache
def load_shipped_models() -> ModelByLanguage:
    """Load the models in data/, one file per language."""
    return {
        language: load_model(Path(str(files("lexicon") / "data" / f"terms_{language}.npz"))) for language in LANGUAGES
    }


def counting_digest(models: ModelByLanguage) -> str:
    """Return a digest of everything in the models that affects counting."""
    digest = hashlib.sha256(str(COUNTING_VERSION).encode())
    for language in sorted(models):
        boundaries = models[language].boundary_model
        digest.update("\n".join(boundaries.lexical).encode() + str(models[language].min_span_log_odds).encode())
        for weights in (boundaries.numbers, boundaries.tags, boundaries.words, boundaries.pairs, boundaries.intercept):
            digest.update(weights.tobytes())
    return digest.hexdigest()


def load_model(path: Path) -> TermModel:
    """Read a model file, as `benchmarks.terms_models.save_model` writes it."""
    with np.load(path, allow_pickle=False) as archive:
        language = str(archive["language"])
        lexical = tuple(archive["lexical"].tobytes().decode().split("\n"))
        arrays: dict[str, Any] = {
            name: archive[f"boundaries_{name}"].astype(np.float32)
            for name in ("numbers", "tags", "words", "pairs", "intercept")
        }
        intercept, span_floor, likely_floor = map(float, archive["about"])
        units, (mean, scale, weights) = archive["units"], archive["wide"]
    return TermModel(
        BoundaryModel(language, lexical, **arrays),
        CandidateModel(language, Standardizer(*units), Standardizer(mean, scale), weights, intercept),
        span_floor,
        likely_floor,
    )
