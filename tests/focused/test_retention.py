"""What `fused` keeps: probabilities, the level of a wanted precision, and what a person's answers change."""

import random

import numpy as np
import pytest

from benchmarks.focus_stated import coverage_of, stop_after_labels
from crawler.focused_policy import (
    BLOCK_CONTENT,
    LinkWords,
    PageWords,
    ReviewableStrategy,
    ReviewInstructions,
    TopicWords,
    WordBlock,
)
from domain.focused_decision import TopicCoverage
from focused.fused.retention import (
    fit_platt_correction,
    select_pages_to_label,
    threshold_for_precision,
)
from focused.fused.strategy import FusedFeatureStrategy
from focused.paper_strategies.semantic import SemanticStrategy

STONE = ("basalt", "granite", "mineral", "volcano", "magma", "quartz", "gneiss", "fault")
SOUND = ("piano", "opera", "melody", "chord", "tempo", "violin", "sonata", "choir")
FILLER = ("people", "year", "place", "found", "large", "known", "part", "used", "time", "many")


@pytest.mark.parametrize(
    ("precision", "least"),
    [(0.8, 0.7), (0.92, 0.9), (0.5, 0.1), (0.99, 1.0)],
)
def test_pages_are_kept_from_where_on_average_enough_are_right(precision: float, least: float) -> None:
    """.95; .95 .9; ... on average .85 down to .7, .53 down to .1"""
    found = threshold_for_precision(np.array([0.1, 0.95, 0.7, 0.9, 0.1]), precision)
    assert found == least


def test_what_a_person_has_refused_is_not_kept_however_little_precision_is_wanted() -> None:
    assert 0.0 < threshold_for_precision(np.array([0.9, 0.0]), 0.1) < 0.9


@pytest.mark.parametrize(("count", "labels"), [(30, 15), (60, 18), (100, 20)])
def test_a_stated_precision_is_true_and_before_enough_labels_none_is_stated(count: int, labels: int) -> None:
    """All pages of the topic are alike, so without labels the precision is stated much too low."""
    focus = FusedFeatureStrategy(topic())
    subject_of = shown(focus, count)
    unlabelled = coverage_of(focus.current_scores(), 0)
    assert (unlabelled.precision, unlabelled.recall, unlabelled.missing_label_count) == (None, None, labels)
    stop = stop_after_labels(focus, {url for url, subject in subject_of.items() if subject == "stone"}, ())
    assert stop.label_count == labels and stop.error is not None and stop.unlabelled_error is not None
    assert stop.unlabelled_error < -0.15 and abs(stop.error) < 0.1


@pytest.mark.parametrize(
    ("coverage", "missing", "precision", "recall"),
    [
        pytest.param(TopicCoverage(100, 10, 16.0, 8.0, 19, 80), 1, None, None, id="one label is missing"),
        pytest.param(TopicCoverage(100, 10, 16.0, 8.0, 20, 80), 0, 0.8, 0.5, id="enough labels"),
        pytest.param(TopicCoverage(500, 10, 16.0, 8.0, 20, 480), 7, None, None, id="too few labels after growth"),
        pytest.param(TopicCoverage(100, 0, 16.0, 0.0, 20, 80), 0, None, 0.0, id="no page is retained"),
        pytest.param(TopicCoverage(1, 1, 0.8, 0.8, 0, 1), 1, None, None, id="a single page"),
        pytest.param(TopicCoverage(4, 2, 2.0, 2.0, 4, 0), 0, 1.0, 1.0, id="every page has a label"),
        pytest.param(TopicCoverage(0, 0, 0.0, 0.0, 0, 0), 0, None, None, id="no page"),
    ],
)
def test_quality_is_stated_from_enough_labels(
    coverage: TopicCoverage, missing: int, precision: float | None, recall: float | None
) -> None:
    assert (coverage.missing_label_count, coverage.precision, coverage.recall) == (missing, precision, recall)


def test_answers_move_probabilities_their_way_and_few_of_them_little() -> None:
    said = np.array([0.9, 0.8, 0.7, 0.6])
    no_answer = fit_platt_correction(np.zeros(0), np.zeros(0))
    assert (no_answer.bias, no_answer.slope) == (pytest.approx(0), pytest.approx(1))
    one, four = fit_platt_correction(said[:1], np.zeros(1)), fit_platt_correction(said, np.zeros(4))
    assert 0.8 > one(np.array([0.8]))[0] > four(np.array([0.8]))[0] > 0.1
    assert fit_platt_correction(said, np.ones(4))(np.array([0.8]))[0] > 0.8


def test_questions_are_about_doubtful_pages_no_two_alike() -> None:
    latent = np.eye(5)[[0, 0, 1, 2, 3]]
    probabilities = np.array([0.55, 0.5, 0.45, 0.999, 0.001])
    asked = select_pages_to_label(probabilities, latent, np.arange(5), 0.6, 3)
    assert asked == [0, 2, 3]  # the first two are on the same axis: one answer does; the last one is retained
    assert select_pages_to_label(probabilities, latent, np.array([3]), 0.5, 2) == [3]
    assert select_pages_to_label(probabilities, latent, np.zeros(0, dtype=np.int64), 0.5, 2) == []


def test_half_of_the_questions_are_about_retained_pages() -> None:
    """At even distances: the second, the fifth and the eighth best of nine; there are no more questions than wanted."""
    probabilities = np.array([0.1, 0.2, 0.3, 0.4, 0.41, 0.42, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
    asked = select_pages_to_label(probabilities, np.eye(12), np.arange(12), 0.4, 6)
    assert len(set(asked)) == 6 and asked[3:] == [10, 7, 4]
    assert select_pages_to_label(probabilities, np.eye(12), np.arange(12), 0.4, 0) == []
    assert len(select_pages_to_label(probabilities, np.eye(12), np.arange(12), 1.0, 6)) == 6  # none is retained


def shown(focus: FusedFeatureStrategy, count: int = 60) -> dict[str, str]:
    """Show pages of two subjects, linked at random, the first of the topic; URL -> subject."""
    draw, subject_of = random.Random(3), {}
    names = [f"http://a.test/{'so' if number % 3 == 1 else 'st'}{number}" for number in range(count)]
    for name in names:
        subject = STONE if "/st" in name else SOUND
        words = (*draw.choices(subject, k=12), *draw.choices(FILLER, k=30))
        page = PageWords(name, (words[0],), (), (WordBlock(BLOCK_CONTENT, words),))
        links = [LinkWords(url, draw.choices(subject, k=2)) for url in draw.sample(names, 3) if url != name]
        focus.link_priorities(page, focus.score_page(page), links)
        subject_of[name] = "stone" if subject is STONE else "sound"
    return subject_of


def topic() -> TopicWords:
    words = (*STONE, *FILLER)
    return TopicWords(("basalt",), (PageWords("http://b.test/", ("basalt",), (), (WordBlock(BLOCK_CONTENT, words),)),))


def test_fused_thinks_again_of_every_page_and_papers_do_not() -> None:
    focus = FusedFeatureStrategy(topic())
    assert isinstance(focus, ReviewableStrategy) and not isinstance(SemanticStrategy(topic()), ReviewableStrategy)
    assert focus.current_scores() == {} and focus.pages_to_label(3) == []
    subject_of = shown(focus)
    verdicts = focus.current_scores()
    assert verdicts.keys() == subject_of.keys()
    stone = [verdicts[url].score for url, subject in subject_of.items() if subject == "stone"]
    sound = [verdicts[url].score for url, subject in subject_of.items() if subject == "sound"]
    assert np.mean(stone) > np.mean(sound) + 0.2


def test_more_precision_keeps_fewer_pages() -> None:
    focus = FusedFeatureStrategy(topic())
    shown(focus)
    kept = {}
    for precision in (0.3, 0.9):
        focus.apply_instructions(ReviewInstructions(precision))
        scores = {url: one.score for url, one in focus.current_scores().items() if one.is_relevant}
        assert np.mean(list(scores.values())) >= precision
        kept[precision] = scores.keys()
    assert kept[0.9] < kept[0.3]


def test_an_answer_counts_at_once_and_for_the_other_pages_too() -> None:
    focus = FusedFeatureStrategy(topic())
    subject_of = shown(focus)
    before = focus.current_scores()
    asked = focus.pages_to_label(10)
    assert len(set(asked)) == len(asked) > 2
    focus.apply_instructions(ReviewInstructions(labels_by_url=dict.fromkeys(asked, False)))
    after = focus.current_scores()
    assert all(after[url].score == 0.0 and not after[url].is_relevant for url in asked)
    others = subject_of.keys() - set(asked)
    assert sum(after[url].score for url in others) < sum(before[url].score for url in others)
    assert not set(focus.pages_to_label(10)) & set(asked)
    page = PageWords(asked[0], ("basalt",), (), (WordBlock(BLOCK_CONTENT, STONE),))
    assert not focus.score_page(page).is_relevant  # it comes again and is known
