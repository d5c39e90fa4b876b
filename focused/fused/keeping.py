"""What is kept: the probability that a page's maker would file it under the topic, and how sure one must be.

    relevance, features -> probability (other webs taught it) -> level of the wanted precision -> kept or not
                                    ^ answers of a person correct it for this topic

Relevance (`page_features.py`) steers the crawl: a list of pages on the topic is worth following. It is not worth
keeping, and relevance is taught to err on the side of the topic. So what is kept goes by a second regression, whose
outcome is a probability: among pages of .8, four in five are of the topic. That includes how much the whole crawl is
worth (`level`), since a topic that is rare on a web, or badly described by its examples, has fewer of each.
Estimating the topic's share by expectation maximisation (Saerens, Latinne and Decaestecker 2002) instead was worse on
every web: the features of pages off the topic differ from web to web as much as their share does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from focused.fused.crawl_graph import Floats, Ints
from focused.fused.pretrained_prior import Prior

# Columns of `keeping_rows`; those of LIKELY never speak against a page.
OF_PAGE = (
    "walk",
    "near",
    "core",
    "terms",
    "name_title",
    "length",
    "degree",
)  # in standard deviations, as they are named
KEEPING = ("verdict", "level", "anchored", *OF_PAGE)
FIRST_KEEPING = tuple(name for name in KEEPING if name not in ("anchored", "degree"))  # its links are not known yet
LIKELY = frozenset(KEEPING) - {"anchored", "level", "length", "degree"}
SURE = 1e-4  # how near to 0 and 1 a relevance may come
BIAS_VARIANCE, SLOPE_VARIANCE = 1.0, 0.1  # of what a topic's own regression differs by from that of the others
QUESTIONS = 10  # that a person is asked
TOLD_APART = 0.8  # cosine of pages so alike that one answer does for both


def logits(probabilities: Floats) -> Floats:
    """ln of the odds."""
    inside = np.clip(probabilities, SURE, 1 - SURE)
    found: Floats = np.log(inside / (1 - inside))
    return found


def keeping_rows(names: Sequence[str], relevance: Floats, level: float, relative: Floats, anchored: Floats) -> Floats:
    """The features of some pages, (pages, KEEPING) float64.

    names      the columns of `relative`
    relevance  (pages,) float64         what was thought of each
    level      mean logit of the relevance of all pages of the refit
    relative   (pages, names) float64   features in standard deviations
    anchored   (pages,) float64         share of a page's words in its links, beyond that of the middle page
    """
    columns = [relative[:, list(names).index(name)] for name in OF_PAGE]
    return np.column_stack((logits(relevance), np.full(len(relevance), level), anchored, *columns))


def level_of(relevance: Floats) -> float:
    """The mean logit of the relevance of all pages."""
    return float(logits(relevance).mean())


def least_probability(probabilities: Floats, precision: float) -> float:
    """The level from which on pages are kept so that on average `precision` of them are of the topic; 1.0 where the
    best alone would be fewer. Above 0: what a person has refused is not kept, however good the others are."""
    best = -np.sort(-probabilities)
    enough = np.flatnonzero(np.cumsum(best) / np.arange(1, len(best) + 1) >= precision)
    return max(float(best[enough[-1]]), SURE) if len(enough) else 1.0


@dataclass(frozen=True)
class Expected:
    """What is kept, in expectation: the share of it that is of the topic, and of what is there the share kept."""

    precision: float
    recall: float


def expected_of(probabilities: Floats, least: float) -> Expected:
    """Of pages kept from `least` on; precision is 1 where nothing is kept."""
    kept = probabilities >= least
    found, there = float(probabilities[kept].sum()), float(probabilities.sum())
    return Expected(found / int(kept.sum()) if kept.any() else 1.0, found / there if there else 0.0)


@dataclass(frozen=True)
class Correction:
    """What a person's answers change of the regression for one topic: logit -> bias + slope * logit."""

    bias: float = 0.0
    slope: float = 1.0

    def __call__(self, probabilities: Floats) -> Floats:
        """Corrected probabilities."""
        corrected: Floats = 1 / (1 + np.exp(-(self.bias + self.slope * logits(probabilities))))
        return corrected


def correction_of(probabilities: Floats, answers: Floats) -> Correction:
    """The most likely correction after these answers, (answers,) float64 of 0 and 1: a topic differs from others by
    BIAS_VARIANCE and SLOPE_VARIANCE, so that few answers change little (Platt's scaling with a prior)."""
    along = logits(probabilities)

    def loss(by: Floats) -> float:
        line = by[0] + by[1] * along
        away = by[0] ** 2 / BIAS_VARIANCE + (by[1] - 1) ** 2 / SLOPE_VARIANCE
        return float((np.logaddexp(0.0, line) - answers * line).sum() + away / 2)

    bias, slope = minimize(loss, np.array([0.0, 1.0]), bounds=[(None, None), (0.1, None)], method="L-BFGS-B").x
    return Correction(float(bias), float(slope))


def questions(probabilities: Floats, latent: Floats, candidates: Ints, level: float, count: int) -> list[int]:
    """The pages where an answer helps most: the most doubtful near the level from which on pages are kept, weighed by
    how many others are like them (Settles and Craven 2008), no two alike.

    probabilities  (pages,) float64
    latent         (pages, dimensions) float64  rows of unit length
    candidates     pages that may be asked about
    """
    if not len(candidates):
        return []
    middle = min(max(level, 0.1), 0.9)
    doubt = np.exp(-np.abs(logits(probabilities) - logits(np.array([middle]))[0]) / 2)
    centre = (latent * doubt[:, None]).sum(axis=0)
    worth = (doubt * (1 + np.maximum(latent @ centre, 0.0) / max(float(doubt.sum()), 1e-9)))[candidates]
    chosen: list[int] = []
    for place in np.argsort(-worth, kind="stable").tolist():
        page = int(candidates[place])
        if not chosen or float((latent[chosen] @ latent[page]).max()) < TOLD_APART:
            chosen.append(page)
        if len(chosen) == count:
            break
    return chosen


def probability(prior: Prior, rows: Floats) -> Floats:
    """By the regression; the columns are scaled already."""
    return prior(rows, np.zeros_like(rows))
