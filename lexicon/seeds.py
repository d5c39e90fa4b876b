"""The terms that a domain has already, as a guide to those it has not: what they have in common speaks for a candidate.

Accepted: 水平井, 直井, 定向井 -> that a candidate ends with 井 is worth more from now on, and 油气井 rises.

The seeds found among the candidates are examples; that all others are none is untrue but does not change the order
(Elkan and Noto 2008, Learning classifiers from only positive and unlabeled data). A logistic regression begins where
the shipped models end and departs from them as far as the seeds give reason to: without seeds nothing changes.
"""

from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from lexicon.counting.ngrams import Rows
from lexicon.counting.occurrences import MAX_WORDS
from lexicon.model.features import WordFacts, sizes_of
from lexicon.model.words import TAGS
from text.folding import word_key

Floats = NDArray[np.float64]
Groups = NDArray[np.int64]

FEWEST = 10  # seeds among the candidates, below which they say nothing
TRUST = 1.0  # seeds that each group is given beforehand, as usual as they are: what few seeds say is little
RIDGE = 30.0  # how hard it is to depart from the shipped models
STEPS = 20
LONGEST = 15  # characters; all longer terms are one group


def guided(
    odds: NDArray[np.float32], rows: Rows, texts: Sequence[str], facts: WordFacts, seeds: Collection[str]
) -> NDArray[np.float32]:
    """The log-odds of `rows`, which are spelt `texts`, anew in the light of `seeds` (word keys of terms)."""
    is_seed = np.fromiter((word_key(text) in seeds for text in texts), dtype=np.float64, count=len(texts))
    if is_seed.sum() < FEWEST:
        return odds
    chance = 1 / (1 + np.exp(-odds.astype(np.float64)))
    evidence = np.stack(list(_evidence(rows, texts, facts, is_seed, chance)))
    # Centred, so that as many candidates are likely afterwards as before.
    evidence -= (evidence @ chance / chance.sum())[:, None]
    return _refitted(odds.astype(np.float64), evidence, is_seed).astype(np.float32)


def _evidence(rows: Rows, texts: Sequence[str], facts: WordFacts, is_seed: Floats, chance: Floats) -> Iterator[Floats]:
    """What the groups that a row belongs to say: those of its first and last word and character, of its tags, of its
    length; and of all its words, on average.
    """
    rate = is_seed.sum() / chance.sum()
    size = sizes_of(rows)
    folded = np.unique(facts.hashes[:, 0], return_inverse=True)[1][rows.words]
    letters = np.array([(ord(text[0].lower()[0]), ord(text[-1].lower()[0]), len(text)) for text in texts]).T
    length = np.minimum(letters[2], LONGEST) * (MAX_WORDS + 1) + size
    last = folded[size - 1, np.arange(len(rows))]
    for group in (folded[0], last, _patterns(rows, facts), length, letters[0], letters[1]):
        yield lift(group, is_seed, chance, rate)
    inside = rows.words >= 0
    each = lift(folded.ravel(), (is_seed * inside).ravel(), (chance * inside).ravel(), rate)
    yield (each.reshape(inside.shape) * inside).sum(axis=0) / size


def _patterns(rows: Rows, facts: WordFacts) -> Groups:
    """One number for each sequence of tags."""
    tags = np.where(rows.words < 0, 0, facts.tags[rows.words] + 1)
    pattern = np.zeros(len(rows), np.int64)
    for place in tags:
        pattern = pattern * (len(TAGS[facts.language]) + 1) + place
    return pattern


def lift(group: Groups, is_seed: Floats, chance: Floats, rate: float) -> Floats:
    """How many of the other rows of each row's group are seeds, against what is usual: `rate` times the sum of their
    `chance`. A logarithm, drawn to 0 where the group is small.
    """
    _, number = np.unique(group, return_inverse=True)
    seeds = np.bincount(number, is_seed)[number] - is_seed
    likely = np.bincount(number, chance)[number] - chance
    found: Floats = np.log((seeds + TRUST) / (np.maximum(likely, 0) * rate + TRUST))
    return found


def _refitted(odds: Floats, evidence: Floats, is_seed: Floats) -> Floats:
    """`odds` times a factor, plus `evidence` by its weights: those that make the seeds likeliest (Newton's method)."""
    columns = np.vstack([np.ones(len(odds)), odds, evidence])
    ridge = np.full(len(columns), RIDGE)
    ridge[0] = 1e-6
    weights = np.zeros(len(columns))
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-(odds + weights @ columns)))
        curvature = (columns * (chance * (1 - chance))) @ columns.T + np.diag(ridge)
        step = np.linalg.solve(curvature, columns @ (is_seed - chance) - ridge * weights)
        weights += step
        if np.abs(step).max() < 1e-4:
            break
    # The first weight only says that most terms are no seeds.
    found: Floats = odds + weights[1:] @ columns[1:]
    return found
