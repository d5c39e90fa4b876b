"""The learned judgement of what is a term: two small linear models in a row, their weights shipped as data.

    text -> words -> gaps judged (boundaries.py) -> spans counted (ngrams.py) -> features of a row -> probability

`python -m benchmarks.training.terms` makes the weights with scikit-learn; here numpy alone reads and applies them.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexicon.counting.ngrams import Counted, NgramTable, Rows
from lexicon.counting.occurrences import STEP, occurrences
from lexicon.counting.tokens import by_language, tokens_of
from lexicon.model.boundaries import Boundaries, BoundaryModel
from lexicon.model.classifier import CandidateClassifier, CandidateModel, Standardizer
from lexicon.model.features import WordFacts, features
from lexicon.model.words import TAGS
from lexicon.seeds import guided

Floats = NDArray[np.float32]
Indices = NDArray[np.int64]

LANGUAGES = ("zh", "en")
COUNTING = 4  # another number where the same text is counted otherwise
BLOCK = 2048  # rows judged at a time
SAMPLE = 20_000  # rows from which the units of a corpus are learnt


@dataclass(frozen=True)
class TermModel:
    """All that judges one language. `span_floor`: own log-odds a span needs to be counted; `likely_floor`: best
    log-probability that a row needs to be judged at all.
    """

    boundaries: BoundaryModel
    candidates: CandidateModel
    span_floor: float
    likely_floor: float


Models = Mapping[str, TermModel]


class TermCounter:
    """Counts the spans of texts that may be terms into `table`."""

    def __init__(self, models: Models) -> None:
        self.table = NgramTable()
        self._models = models
        self._boundaries = {language: Boundaries(model.boundaries) for language, model in models.items()}

    def add(self, texts: Sequence[str], documents: Indices | None = None) -> None:
        """Count some `readable` texts, each a whole document, with these numbers or the next ones."""
        table = self.table
        numbers = table.documents + np.arange(len(texts)) if documents is None else documents
        parts = []
        for language, own, its_documents in by_language(texts, numbers):
            tokens = tokens_of(own, language, its_documents, table.vocabulary)
            floor = self._models[language].span_floor
            parts.append((tokens, occurrences(tokens, table.vocabulary, self._boundaries[language], floor)))
        table.add(parts)
        table.documents += len(texts)


@dataclass(frozen=True)
class Selection:
    """What is to be ranked: `rows` that may be terms, and a `sample` of all rows by which is told what is usual."""

    rows: Rows
    sample: Rows
    counted: Counted


def selection_of(table: NgramTable, models: Models, min_frequency: int = 1) -> Selection:
    """All of a table that may be terms."""
    likely = are_likely(rows := table.rows(), models)
    fair = np.flatnonzero(likely)
    return Selection(
        rows.take(likely & (rows.frequency >= min_frequency)), rows.take(fair[:: 1 + len(fair) // SAMPLE]), table
    )


def are_likely(rows: Rows, models: Models) -> NDArray[np.bool_]:
    """Which rows need to be judged at all, by the best place they were seen in."""
    floors = [models[language].likely_floor * STEP for language in LANGUAGES]
    found: NDArray[np.bool_] = rows.likeliest >= np.where(rows.is_english, floors[1], floors[0])
    return found


def ranked(
    models: Models, chosen: Selection, seeds: Collection[str] = (), probability: float = 0.0
) -> tuple[Rows, Floats]:
    """The rows of a selection with more than this probability, likeliest first, and their probabilities; equal ones by
    frequency, then key.

    Each language is judged by its own model and in its own units. `seeds` are the `word_key`s of terms that are known
    to be some: they guide the ranking of all others.
    """
    rows, odds = chosen.rows, np.zeros(len(chosen.rows), np.float32)
    for number, language in enumerate(LANGUAGES):
        which = np.flatnonzero(rows.is_english == bool(number))
        if len(which):
            odds[which] = judged(models[language], chosen, which, seeds)
    scores = (1 / (1 + np.exp(-odds))).astype(np.float32)
    likely = np.flatnonzero(scores > probability)
    order = likely[np.lexsort((rows.keys[likely], -rows.frequency[likely], -odds[likely]))]
    return rows.take(order), scores[order]


def judged(model: TermModel, chosen: Selection, which: Indices, seeds: Collection[str]) -> Floats:
    """Log-odds of being a term for the rows `which` of a selection, all of one language; what is usual in this corpus
    is learnt from the sample.
    """
    rows, counted, language = chosen.rows, chosen.counted, model.boundaries.language
    sample = chosen.sample.take(chosen.sample.is_english == (language == "en"))
    facts = WordFacts.of(counted, language, rows.words[:, which], sample.words)
    units = model.candidates.usual
    if len(sample):
        units = Standardizer.of(features(sample, facts, counted.words_read)).shrunk(units, len(sample))
    judge = CandidateClassifier(model.candidates, units, facts, counted.words_read)
    blocks = [which[at : at + BLOCK] for at in range(0, len(which), BLOCK)]
    odds = np.concatenate([judge.log_odds(rows.take(block)) for block in blocks])
    if not seeds:
        return odds
    own = rows.take(which)
    return guided(odds, own, list(spelt(counted, own)), facts, seeds)


def spelt(counted: Counted, rows: Rows) -> Iterator[str]:
    """Each row as text, each of its words in the spelling most often seen."""
    usual = counted.usual
    for row in rows.words.T.tolist():
        first, *others = (usual[number] for number in row if number >= 0)
        yield first.strip(" ") + "".join(others)


def tags_of(counted: Counted, rows: Rows) -> Iterator[str]:
    """The tags of each row's words, as `n n`."""
    for words, is_english in zip(rows.words.T, rows.is_english.tolist(), strict=True):
        language = "en" if is_english else "zh"
        tags = counted.vocabulary.about.tags(language, words[words >= 0])
        yield " ".join(TAGS[language][tag] for tag in tags.tolist())


@cache
def shipped_models() -> Models:
    """The models in data/, one file a language."""
    return {
        language: load_model(Path(str(files("lexicon") / "data" / f"terms_{language}.npz"))) for language in LANGUAGES
    }


def model_digest(models: Models) -> str:
    """What tells these models' counts from those of others."""
    digest = hashlib.sha256(str(COUNTING).encode())
    for language in sorted(models):
        boundaries = models[language].boundaries
        digest.update("\n".join(boundaries.lexical).encode() + str(models[language].span_floor).encode())
        for weights in (boundaries.numbers, boundaries.tags, boundaries.words, boundaries.pairs, boundaries.intercept):
            digest.update(weights.tobytes())
    return digest.hexdigest()


def save_model(model: TermModel, path: Path) -> None:
    """Write a model to one file; half precision is enough for the weights of the boundaries."""
    boundaries = {
        f"boundaries_{name}": getattr(model.boundaries, name).astype(np.float16)
        for name in ("numbers", "tags", "words", "pairs", "intercept")
    }
    lexical = np.frombuffer("\n".join(model.boundaries.lexical).encode(), dtype=np.uint8)
    chosen = model.candidates
    units = np.stack([chosen.usual.mean, chosen.usual.scale])
    wide = np.stack([chosen.wide.mean, chosen.wide.scale, chosen.weights])
    about = np.array([chosen.intercept, model.span_floor, model.likely_floor])
    language = np.array(model.boundaries.language)
    with path.open("wb") as file:
        np.savez_compressed(file, language=language, lexical=lexical, about=about, units=units, wide=wide, **boundaries)


def load_model(path: Path) -> TermModel:
    """The model in a file that `save_model` wrote."""
    with np.load(path, allow_pickle=False) as saved:
        language = str(saved["language"])
        lexical = tuple(saved["lexical"].tobytes().decode().split("\n"))
        arrays: dict[str, Any] = {
            name: saved[f"boundaries_{name}"].astype(np.float32)
            for name in ("numbers", "tags", "words", "pairs", "intercept")
        }
        intercept, span_floor, likely_floor = map(float, saved["about"])
        units, (mean, scale, weights) = saved["units"], saved["wide"]
    return TermModel(
        BoundaryModel(language, lexical, **arrays),
        CandidateModel(language, Standardizer(*units), Standardizer(mean, scale), weights, intercept),
        span_floor,
        likely_floor,
    )
