"""The learned judgement of what is a term: two small linear models in a row, their weights shipped as data.

    text -> words -> gaps judged (boundaries.py) -> spans counted (ngrams.py) -> features of a row -> probability

`python -m lexicon.training` makes the weights with scikit-learn; here numpy alone reads and applies them.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexicon.boundaries import Boundaries, BoundaryModel
from lexicon.features import WordFacts, feature_names, features
from lexicon.ngrams import AT, FORMAT, NgramTable, Rows
from lexicon.occurrences import STEP, occurrences
from lexicon.tokens import language_of, tokens_of
from lexicon.words import TAGS

Floats = NDArray[np.float32]
Indices = NDArray[np.int64]

LANGUAGES = ("zh", "en")
CLIP = 4.0  # standard deviations beyond which a feature says no more
BLOCK = 8192  # rows judged at a time
SAMPLE = 20_000  # rows from which the units of a corpus are learnt
USUAL_ROWS = 500  # as many rows of its own outweigh what was usual in training
CROSSED = (
    "log frequency", "log documents", "likeliest", "mean begins", "mean ends", "mean weakest", "mean left",
    "mean right", "characters", "words", "log expected", "last: rather last", "last: last character ends terms",
    "mean general", "general", "specific", "mean: term against general", "last: term against general",
)  # fmt: skip
"""The features whose products count too."""


@dataclass(frozen=True)
class Units:
    """What is usual for each feature in one corpus: its mean and its standard deviation."""

    mean: Floats
    scale: Floats

    @classmethod
    def of(cls, columns: Floats) -> "Units":
        """Those of some rows of `features`."""
        return cls(columns.mean(axis=0), columns.std(axis=0) + np.float32(1e-3))

    def shrunk(self, usual: "Units", rows: int) -> "Units":
        """These, from so many rows, drawn to the `usual` ones: a few rows say little about a corpus."""
        trust = np.float32(rows / (rows + USUAL_ROWS))
        mean, scale = (
            trust * own + (1 - trust) * other
            for own, other in zip(vars(self).values(), vars(usual).values(), strict=True)
        )
        return Units(mean, scale)


@dataclass(frozen=True)
class CandidateModel:
    """A logistic regression over features in the units of their own corpus, and the products of those in CROSSED.

    That they are in units of the corpus is what carries the judgement over from one domain to another: gaps are judged
    more or less boldly there, words are more or less rare. `usual` are the units of the sets it was trained on.
    """

    language: str
    usual: Units
    wide: Units
    weights: Floats
    intercept: float

    def log_odds(self, columns: Floats, units: Units) -> Floats:
        """One value a row."""
        wide = crossed(columns, self.language, units)
        wide -= self.wide.mean
        wide /= self.wide.scale
        np.clip(wide, -CLIP, CLIP, out=wide)
        result: Floats = wide @ self.weights + np.float32(self.intercept)
        return result


def crossed(columns: Floats, language: str, units: Units) -> Floats:
    """`columns` in `units`, and beside them the products of each two of CROSSED (squares too)."""
    names = feature_names(language)
    own = np.clip((columns - units.mean) / units.scale, -CLIP, CLIP)
    chosen = own[:, [names.index(name) for name in CROSSED]]
    left, right = np.triu_indices(len(CROSSED))
    return np.hstack([own, chosen[:, left] * chosen[:, right]])


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
        runs: list[tuple[str, int]] = []  # documents of one language that follow each other
        for text in texts:
            language = language_of(text)
            if runs and runs[-1][0] == language:
                runs[-1] = (language, runs[-1][1] + 1)
            else:
                runs.append((language, 1))
        done = 0
        for language, count in runs:
            self._add(language, texts[done : done + count])
            done += count

    def _add(self, language: str, texts: Sequence[str]) -> None:
        table, boundaries = self.table, self._boundaries[language]
        tokens = tokens_of(texts, language, table.documents, table.vocabulary)
        found = occurrences(tokens, table.vocabulary, boundaries, self._models[language].span_floor)
        table.add(tokens, found)
        table.documents += len(texts)

    def ranked(self, min_frequency: int = 1) -> tuple[Rows, Floats]:
        """The rows that may be terms, likeliest first, and their probabilities; equal ones by frequency, then key."""
        rows = self.table.rows()
        frequent = rows.counts[:, AT["frequency"]] >= min_frequency
        english = rows.counts[:, AT["in English"]] * 2 > rows.counts[:, AT["frequency"]]
        parts = []
        for language in LANGUAGES:
            model = self._models[language]
            likely = (english == (language == "en")) & (rows.likeliest >= model.likely_floor * STEP)
            chosen = np.flatnonzero(likely & frequent)
            parts.append((chosen, judged(model, self.table, rows, chosen, np.flatnonzero(likely))))
        which = np.concatenate([chosen for chosen, _ in parts])
        odds = np.concatenate([values for _, values in parts])
        order = np.lexsort((rows.keys[which], -rows.counts[which, 0], -odds))
        return rows.take(which[order]), (1 / (1 + np.exp(-odds[order]))).astype(np.float32)


def judged(model: TermModel, table: NgramTable, rows: Rows, which: Indices, likely: Indices) -> Floats:
    """Log-odds of being a term for the rows `which`; what is usual in this corpus is learnt from the `likely` ones."""
    if not len(which):
        return np.zeros(0, np.float32)
    facts = WordFacts.of(table, model.boundaries.language)
    words_read = int(table.spellings.sum())
    # Rows are in the order of their hashes: each so-manieth one is a fair sample, and the same in every run.
    sample = likely[:: 1 + len(likely) // SAMPLE]
    units = Units.of(features(rows.take(sample), facts, words_read)).shrunk(model.candidates.usual, len(sample))
    return np.concatenate(
        [
            model.candidates.log_odds(features(rows.take(which[at : at + BLOCK]), facts, words_read), units)
            for at in range(0, len(which), BLOCK)
        ]
    )


def spelt(table: NgramTable, rows: Rows) -> Iterator[str]:
    """Each row as text, each of its words in the spelling most often seen."""
    best = usual_spellings(table)
    words = table.vocabulary.words
    for row in rows.words.tolist():
        numbers = [best[number] for number in row if number >= 0]
        yield words[numbers[0]].strip(" ") + "".join(map(words.__getitem__, numbers[1:]))


def tags_of(table: NgramTable, rows: Rows) -> Iterator[str]:
    """The tags of each row's words, as `n n`."""
    tags = {
        language: [TAGS[language][tag] for tag in table.vocabulary.about.tags(language).tolist()]
        for language in LANGUAGES
    }
    english = rows.counts[:, AT["in English"]] * 2 > rows.counts[:, AT["frequency"]]
    for row, is_english in zip(rows.words.tolist(), english.tolist(), strict=True):
        yield " ".join(tags["en" if is_english else "zh"][number] for number in row if number >= 0)


def usual_spellings(table: NgramTable) -> list[int]:
    """For each word of the vocabulary the number of the most frequent one with its folded spelling."""
    hashes = table.vocabulary.hashes[:, 1]
    order = np.lexsort((np.arange(len(hashes)), -table.spellings, hashes))
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
