"""The learned judgement of what is a term: two small linear models in a row, their weights shipped as data.

    text -> words -> gaps judged (boundaries.py) -> spans counted (ngrams.py) -> features of a row -> probability

`python -m lexicon.training` makes the weights with scikit-learn; here numpy alone reads and applies them.
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

from lexicon.boundaries import Boundaries, BoundaryModel
from lexicon.features import WordFacts, features
from lexicon.judge import CandidateModel, Judge, Units
from lexicon.ngrams import AT, FORMAT, NgramTable, Rows, joined
from lexicon.occurrences import STEP, occurrences
from lexicon.seeds import guided
from lexicon.tokens import language_of, tokens_of
from lexicon.words import TAGS

Floats = NDArray[np.float32]
Indices = NDArray[np.int64]

LANGUAGES = ("zh", "en")
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


class TermMiner:
    """Counts texts and ranks what it has counted. `table` may be saved, loaded and added to another."""

    def __init__(self, models: Models, table: NgramTable | None = None) -> None:
        self.table = table or NgramTable()
        self._models = models
        self._boundaries = {language: Boundaries(model.boundaries) for language, model in models.items()}

    def add(self, texts: Sequence[str]) -> None:
        """Count some `readable` texts, the next documents of the corpus."""
        languages = np.array([language_of(text) == "en" for text in texts], dtype=np.int64)
        for number, language in enumerate(LANGUAGES):
            here = np.flatnonzero(languages == number)
            if len(here):
                self._add(language, [texts[place] for place in here.tolist()], (self.table.documents + here))
        self.table.documents += len(texts)

    def _add(self, language: str, texts: Sequence[str], documents: Indices) -> None:
        table, boundaries = self.table, self._boundaries[language]
        tokens = tokens_of(texts, language, documents.astype(np.int32), table.vocabulary)
        floor = self._models[language].span_floor
        table.add(tokens, occurrences(tokens, table.vocabulary, boundaries, floor))

    def ranked(self, min_frequency: int = 1, seeds: Collection[str] = ()) -> tuple[Rows, Floats]:
        """The rows that may be terms, likeliest first, and their probabilities; equal ones by frequency, then key.

        `seeds` are the `word_key`s of terms that are known to be some: they guide the ranking of all others.
        """
        frequency, likeliest = self.table.column("frequency"), self.table.column("likeliest")
        english = self.table.column("in English") * 2 > frequency
        parts = []
        for language in LANGUAGES:
            model = self._models[language]
            likely = np.flatnonzero((english == (language == "en")) & (likeliest >= model.likely_floor * STEP))
            rows = self.table.rows(likely[frequency[likely] >= min_frequency])
            parts.append((rows, judged(model, self.table, rows, likely, seeds)))
        odds = np.concatenate([values for _, values in parts])
        rows = joined([rows for rows, _ in parts])
        order = np.lexsort((rows.keys, -rows.counts[AT["frequency"]], -odds))
        return rows.take(order), (1 / (1 + np.exp(-odds[order]))).astype(np.float32)


def judged(model: TermModel, table: NgramTable, rows: Rows, likely: Indices, seeds: Collection[str]) -> Floats:
    """Log-odds of being a term for `rows`; what is usual in this corpus is learnt from those numbered `likely`."""
    if not len(rows):
        return np.zeros(0, np.float32)
    facts = WordFacts.of(table, model.boundaries.language)
    words_read = int(table.spellings.sum())
    # In the order of their hashes each so-manieth one is a fair sample, and the same in every run.
    sample = table.rows(likely[np.argsort(table.keys[likely])[:: 1 + len(likely) // SAMPLE]])
    units = Units.of(features(sample, facts, words_read)).shrunk(model.candidates.usual, len(sample))
    judge = Judge(model.candidates, units, facts, words_read)
    odds = np.concatenate([judge.log_odds(rows.part(at, at + BLOCK)) for at in range(0, len(rows), BLOCK)])
    return guided(odds, rows, list(spelt(table, rows)), facts, seeds) if seeds else odds


def spelt(table: NgramTable, rows: Rows) -> Iterator[str]:
    """Each row as text, each of its words in the spelling most often seen."""
    best = usual_spellings(table)
    words = table.vocabulary.words
    for row in rows.words.T.tolist():
        numbers = [best[number] for number in row if number >= 0]
        yield words[numbers[0]].strip(" ") + "".join(map(words.__getitem__, numbers[1:]))


def tags_of(table: NgramTable, rows: Rows) -> Iterator[str]:
    """The tags of each row's words, as `n n`."""
    tags = {
        language: [TAGS[language][tag] for tag in table.vocabulary.about.tags(language).tolist()]
        for language in LANGUAGES
    }
    english = rows.counts[AT["in English"]] * 2 > rows.counts[AT["frequency"]]
    for row, is_english in zip(rows.words.T.tolist(), english.tolist(), strict=True):
        yield " ".join(tags["en" if is_english else "zh"][number] for number in row if number >= 0)


def usual_spellings(table: NgramTable) -> list[int]:
    """For each word of the vocabulary the number of the most frequent one with its folded spelling; of two as frequent
    the one in small letters, whichever came first.
    """
    hashes, words = table.vocabulary.hashes[:, 1], table.vocabulary.words
    place = np.empty(len(words), dtype=np.int64)
    place[sorted(range(len(words)), key=words.__getitem__, reverse=True)] = np.arange(len(words))
    order = np.lexsort((place, -table.spellings, hashes))
    ordered = hashes[order]
    new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    best = np.empty(len(hashes), dtype=np.int64)
    best[order] = order[new][np.cumsum(new) - 1]
    return best.tolist()


@cache
def shipped_models() -> Models:
    """The models in data/, one file a language."""
    return {
        language: load_model(Path(str(files("lexicon") / "data" / f"terms_{language}.npz"))) for language in LANGUAGES
    }


def model_digest(models: Models) -> str:
    """What tells these models' counts from those of others."""
    digest = hashlib.sha256(str(FORMAT).encode())
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
        CandidateModel(language, Units(*units), Units(mean, scale), weights, intercept),
        span_floor,
        likely_floor,
    )
