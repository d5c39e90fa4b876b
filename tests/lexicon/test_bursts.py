"""Bursts of terms in counts by day."""

import random

from lexicon.bursts import QUIET_DAYS, Burst, find_bursts

ARTICLES_PER_DAY = 200


def bursts(counts_by_term: dict[str, list[int]], totals: list[int] | None = None, seed: int = 1) -> list[Burst]:
    """Find bursts of terms with these counts by day; the articles of a day are drawn for each term."""
    generator = random.Random(seed)
    day_count = len(next(iter(counts_by_term.values())))
    totals = totals or [ARTICLES_PER_DAY] * day_count
    days = [day for day, total in enumerate(totals) for _ in range(total)]
    articles_by_term: dict[str, list[int]] = {}
    for term, counts in counts_by_term.items():
        articles_by_term[term] = [
            article
            for day, count in enumerate(counts)
            for article in generator.sample([n for n, day_of in enumerate(days) if day_of == day], count)
        ]
    return find_bursts(articles_by_term, days)


def test_a_rise_is_noticed_when_it_begins() -> None:
    [burst] = bursts({"台风": [0, 1, 0, 0, 1, 0, 0, 20, 40, 30], "经济": [30] * 10})
    assert (burst.term, burst.day, burst.first_day, burst.count) == ("台风", 7, 7, 20)


def test_a_slow_rise_is_noticed_within_three_days() -> None:
    [burst] = bursts({"政变": [0] * 10 + [4, 4, 4, 1]})
    assert burst.day in (11, 12) and burst.first_day == 10


def test_later_days_change_no_report() -> None:
    counts = {"洪水": [1, 0, 0, 1, 0, 15, 40, 60, 2, 1], "地震": [0, 0, 0, 0, 9, 12, 3, 0, 0, 0]}
    shortened = {term: values[:7] for term, values in counts.items()}
    assert bursts(shortened) == [burst for burst in bursts(counts) if burst.day < 7]


def test_more_articles_are_no_rise() -> None:
    totals = [50, 50, 50, 50, 50, 600, 700]
    assert not bursts({"经济": [5, 4, 6, 5, 5, 60, 70]}, totals)


def test_a_term_that_comes_every_week_is_reported_at_most_once() -> None:
    weekly = [0, 0, 0, 0, 15, 0, 0] * 8
    assert len(bursts({"周报": weekly})) <= 1


def test_few_articles_and_few_earlier_days_are_no_burst() -> None:
    assert not bursts({"罕见": [0, 0, 0, 0, 0, 5]})
    assert not bursts({"开始": [0, 0, 30, 30]})


def test_a_burst_is_reported_once_and_again_after_a_quiet_time() -> None:
    wave = [0] * 5 + [12, 15, 12]
    assert len(bursts({"台风": [*wave, 10, 8]})) == 1
    again = bursts({"台风": wave + [0] * (9 * QUIET_DAYS) + [60]})
    assert [burst.first_day for burst in again] == [5, len(wave) + 9 * QUIET_DAYS]


def test_an_event_is_reported_by_one_of_its_terms() -> None:
    """杜苏芮 is in the same articles as 强台风; 登陆 is in other articles."""
    days = [day for day in range(8) for _ in range(100)]
    event = [*range(600, 630), *range(700, 740)]
    articles = {"杜苏芮": event, "强台风": event[:-2], "台风杜苏芮": event[:40], "登陆": [*range(640, 670)]}
    assert {burst.term for burst in find_bursts(articles, days)} == {"杜苏芮", "登陆"}


def test_nothing_to_count() -> None:
    assert find_bursts({}, []) == [] == find_bursts({"词": []}, [0, 1])
