"""Term models in memory: counting without stored counts, and what only training and tests do with models."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from domain.term import Term
from lexicon.c_value.candidates import normalize_text
from lexicon.counting.distributed_count import CHUNK_CHARACTERS, iter_chunks
from lexicon.counting.ngram_table import COLUMN_INDEX, CountedCorpus, NgramTable, usual_spellings
from lexicon.model.boundaries import TAG_PAIR_POSITIONS, WINDOW_WORDS, BoundaryModel
from lexicon.model.classifier import INTERACTION_FEATURES, MAX_STANDARD_SCORE, Standardizer
from lexicon.model.feature_report import score_components
from lexicon.model.row_features import feature_names
from lexicon.model.term_model import (
    MAX_SAMPLE_ROWS,
    CandidateSelection,
    ModelByLanguage,
    SpanCounter,
    TermModel,
    is_likely,
    iter_spellings,
    rank_rows,
)
from lexicon.model.word_features import TAGS_BY_LANGUAGE, WORD_FEATURES
from lexicon.settings import LexiconSettings

Float32Array = NDArray[np.float32]


def count_in_memory(texts: Iterable[str], models: ModelByLanguage) -> NgramTable:
    """Count the spans of all texts in memory. Returns the table of spans."""
    counter = SpanCounter(models)
    for chunk in iter_chunks(enumerate(texts), CHUNK_CHARACTERS):
        counter.add([normalize_text(text) for _, text in chunk], np.array([index for index, _ in chunk]))
    return counter.table


def counted_corpus(table: NgramTable) -> CountedCorpus:
    """Return the word statistics of a table."""
    occurrences, words = table.word_occurrences, table.vocabulary.words
    spellings = usual_spellings(words, zip(words, occurrences.tolist(), strict=True))
    return CountedCorpus(table.vocabulary, occurrences, int(occurrences.sum()), len(words), spellings)


def select_from_table(table: NgramTable, models: ModelByLanguage, min_frequency: int = 1) -> CandidateSelection:
    """Return all candidate rows of a table."""
    is_candidate = is_likely(rows := table.rows(), models)
    likely_rows = np.flatnonzero(is_candidate)
    return CandidateSelection(
        rows.take(is_candidate & (rows.frequency >= min_frequency)),
        rows.take(likely_rows[:: 1 + len(likely_rows) // MAX_SAMPLE_ROWS]),
        counted_corpus(table),
    )


def mine_in_memory(texts: Iterable[str], models: ModelByLanguage) -> list[Term]:
    """Return the candidates of a corpus, best first, as term mining with default settings finds them."""
    settings = LexiconSettings()
    table = count_in_memory(texts, models)
    selection = select_from_table(table, models, settings.min_frequency)
    rows, scores = rank_rows(models, selection, probability=settings.probability)
    frequencies, documents = (rows.counts[COLUMN_INDEX[name]].tolist() for name in ("frequency", "documents"))
    corpus = selection.corpus
    columns = (iter_spellings(corpus, rows), scores.tolist(), frequencies, documents, score_components(corpus, rows))
    return [
        Term(text, score, frequency, document_count, score_components=parts)
        for text, score, frequency, document_count, parts in zip(*columns, strict=True)
    ]


def zero_model(language: str) -> BoundaryModel:
    """Return a model with zero weights."""
    tags = len(TAGS_BY_LANGUAGE[language])
    return BoundaryModel(
        language,
        (),
        np.zeros((WINDOW_WORDS, len(WORD_FEATURES), 3), np.float32),
        np.zeros((WINDOW_WORDS, tags, 3), np.float32),
        np.zeros((WINDOW_WORDS, 0, 3), np.float32),
        np.zeros((len(TAG_PAIR_POSITIONS), tags * tags, 3), np.float32),
        np.zeros(3, np.float32),
    )


def expand_features(columns: Float32Array, language: str, scaler: Standardizer) -> Float32Array:
    """Return standardized columns followed by the products of each two INTERACTION_FEATURES, including squares."""
    names = feature_names(language)
    standardized_columns = np.clip((columns - scaler.mean) / scaler.scale, -MAX_STANDARD_SCORE, MAX_STANDARD_SCORE)
    interacting = standardized_columns[:, [names.index(name) for name in INTERACTION_FEATURES]]
    first, second = np.triu_indices(len(INTERACTION_FEATURES))
    return np.hstack([standardized_columns, interacting[:, first] * interacting[:, second]])


def save_model(model: TermModel, path: Path) -> None:
    """Write a model to a file. Boundary weights are stored in half precision."""
    boundaries = {
        f"boundaries_{name}": getattr(model.boundary_model, name).astype(np.float16)
        for name in ("numbers", "tags", "words", "pairs", "intercept")
    }
    lexical = np.frombuffer("\n".join(model.boundary_model.lexical).encode(), dtype=np.uint8)
    candidate_model = model.candidate_model
    units = np.stack([candidate_model.training_scaler.mean, candidate_model.training_scaler.scale])
    expanded_parameters = np.stack(
        [candidate_model.expanded_scaler.mean, candidate_model.expanded_scaler.scale, candidate_model.weights]
    )
    scalars = np.array([candidate_model.intercept, model.min_span_log_odds, model.min_row_log_probability])
    language = np.array(model.boundary_model.language)
    with path.open("wb") as file:
        np.savez_compressed(
            file, language=language, lexical=lexical, about=scalars, units=units, wide=expanded_parameters, **boundaries
        )
