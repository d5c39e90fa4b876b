"""Bursts: terms whose share of the articles rises within at most three days, found with the data up to each day.

The weight of a rise is the log-likelihood ratio G² (Dunning 1993) of two shares: that of the articles of the last one
to three days that contain the term, and that of all days before. It uses shares because days differ in their articles.
The weight is divided by the variance of the term's daily counts so far relative to a Poisson process: a term that
always comes in waves needs a higher wave. Different terms of one event are reported once. No I/O.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lexicon.arrays import BoolArray, Float64Array, Int64Array

MAX_WINDOW_DAYS = 3
MIN_EARLIER_DAYS = 3  # days with articles before the window
MIN_ARTICLES = 6  # articles with the term within the window
MIN_WEIGHT = 15.0  # corrected G²
MIN_RISE = 8.0  # share within the window relative to the share before
MIN_LAST_DAY_SHARE = 0.5  # share on the last day relative to the window: the rise continues
MIN_EVENT_OVERLAP = 0.7  # share of a term's articles that contain the other term, if both belong to one event
EVENT_DAYS = 3  # terms of one event are reported at most this many days after its first term
QUIET_DAYS = 14  # days without a rise after which a term can burst again
LEAD_CHARS = 100  # characters of an article in which a term is counted: news names its subject first
MIN_VARIANCE = 0.2  # smallest expected count in the variance, so that one article of a rare term is no wave


@dataclass(frozen=True)
class Burst:
    """The rise of a term, as known on the day on which it is noticed.

    Attributes:
        day: Index of the day on which the burst is noticed.
        first_day: Index of the first day of the rise, at most two days before `day`.
        weight: Corrected G².
        count: Articles with the term from `first_day` to `day`.
    """

    term: str
    day: int
    first_day: int
    weight: float
    count: int


def find_bursts(articles_by_term: Mapping[str, Sequence[int]], article_days: Sequence[int]) -> list[Burst]:
    """Return the bursts in the order of their days, the highest weight of a day first.

    Args:
        articles_by_term: The articles that contain each term in their lead, as indices of `article_days`.
        article_days: Index of the day of each article, from 0. The last day is the largest.
    """
    days = np.asarray(article_days, dtype=np.int64)
    terms = [term for term, articles in articles_by_term.items() if len(articles) >= MIN_ARTICLES]
    if not terms:
        return []
    articles = [np.asarray(articles_by_term[term], dtype=np.int64) for term in terms]
    totals = np.bincount(days).astype(np.float64)
    counts = np.stack([np.bincount(days[of_term], minlength=len(totals)) for of_term in articles]).astype(np.float64)
    last_risen = np.full(len(terms), -QUIET_DAYS - 1)
    bursts: list[Burst] = []
    for day in range(len(totals)):
        weights, first_days = _weigh_rises(counts, totals, day)
        risen = np.flatnonzero(weights >= MIN_WEIGHT)
        starting = risen[day - last_risen[risen] > QUIET_DAYS]
        last_risen[risen] = day
        for index in starting[np.argsort(-weights[starting], kind="stable")].tolist():
            recent_articles = articles[index][np.abs(day - days[articles[index]]) < MAX_WINDOW_DAYS]
            recent_articles = recent_articles[days[recent_articles] <= day]
            if not _is_reported(terms[index], recent_articles, day, bursts, articles_by_term):
                first_day = int(first_days[index])
                count = int(counts[index, first_day : day + 1].sum())
                bursts.append(Burst(terms[index], day, first_day, float(weights[index]), count))
    return bursts


def _is_reported(
    term: str,
    recent_articles: Int64Array,
    day: int,
    bursts: Sequence[Burst],
    articles_by_term: Mapping[str, Sequence[int]],
) -> bool:
    """True if an earlier burst names the same event: by a longer or shorter term, or in most `recent_articles`."""
    for burst in reversed(bursts):
        age = day - burst.day
        if age > QUIET_DAYS:
            return False
        if term in burst.term or burst.term in term:
            return True
        if age <= EVENT_DAYS:
            overlap = np.isin(recent_articles, np.asarray(articles_by_term[burst.term])).mean()
            if overlap >= MIN_EVENT_OVERLAP:
                return True
    return False


def _weigh_rises(counts: Float64Array, totals: Float64Array, day: int) -> tuple[Float64Array, Int64Array]:
    """Return the largest weight of each term of the windows that end on `day`, and the first day of that window.

    Args:
        counts: Articles by term and day.
        totals: Articles by day.
        day: Index of the last day that may be read.
    """
    weights = np.zeros(len(counts))
    first_days = np.full(len(counts), day)
    if not totals[day]:
        return weights, first_days
    for first in range(day, max(0, day - MAX_WINDOW_DAYS), -1):
        if np.count_nonzero(totals[:first]) < MIN_EARLIER_DAYS:
            break
        total, earlier_total = totals[first : day + 1].sum(), totals[:first].sum()
        count, earlier_count = counts[:, first : day + 1].sum(axis=1), counts[:, :first].sum(axis=1)
        share, earlier_share = count / total, (earlier_count + 0.5) / earlier_total
        is_rise: BoolArray = (count >= MIN_ARTICLES) & (share >= MIN_RISE * earlier_share)
        is_rise &= counts[:, day] >= MIN_LAST_DAY_SHARE * share * totals[day]
        expected = np.outer(earlier_share, totals[:first])
        squares = (counts[:, :first] - expected) ** 2 / np.maximum(expected, MIN_VARIANCE)
        variance = squares.sum(axis=1) / max(first - 1, 1)
        weight = log_likelihood_ratio(count, total, earlier_count, earlier_total) / np.maximum(1.0, variance)
        is_better = is_rise & (weight > weights)
        weights[is_better], first_days[is_better] = weight[is_better], first
    return weights, first_days


def log_likelihood_ratio(
    count: Float64Array, total: float, other_count: Float64Array, other_total: float
) -> Float64Array:
    """Return G² of the hypothesis that two shares, `count / total` and `other_count / other_total`, are equal."""
    share = (count + other_count) / (total + other_total)
    cells = (
        (count, total * share),
        (total - count, total * (1 - share)),
        (other_count, other_total * share),
        (other_total - other_count, other_total * (1 - share)),
    )
    ratio: Float64Array = np.zeros_like(share)
    for cell_count, expected in cells:
        ratio += 2 * cell_count * np.log(np.maximum(cell_count, 1e-9) / np.maximum(expected, 1e-9))
    return ratio
