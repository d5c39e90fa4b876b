"""Which candidates wait for review."""

from lexicon.review_selection import ReviewSelector, ReviewState
from text.scripts import language_of_term


def taken(offers: ReviewSelector, texts: list[str]) -> list[str]:
    return [text for text in texts if offers.accepts(text, text.lower())]


def test_each_language_has_its_own_depth() -> None:
    texts = ["shale gas", "tight oil", "页岩气", "B-tree", "PDC钻头", "致密油", "query plan"]
    assert taken(ReviewSelector(ReviewState(), 2), texts) == ["shale gas", "tight oil", "页岩气", "PDC钻头"]
    assert taken(ReviewSelector(ReviewState(), 0), texts) == texts
    assert [language_of_term(text) for text in texts] == ["en", "en", "zh", "en", "zh", "zh", "en"]


def test_what_is_decided_makes_room_for_the_next() -> None:
    texts = ["页岩气", "致密油", "煤层气", "干热岩"]
    assert (
        taken(ReviewSelector(ReviewState(decided_keys=frozenset({"页岩气"})), 2), texts) == texts[:3]
    )  # its evidence is kept too


def test_what_waits_stays_until_it_has_fallen_well_below() -> None:
    texts = ["新一", "新二", "旧一", "旧二", "旧三"]
    waiting = frozenset({"旧一", "旧二", "旧三"})
    assert taken(ReviewSelector(ReviewState(pending_keys=waiting), 2), texts) == ["新一", "新二", "旧一"]
    assert taken(ReviewSelector(ReviewState(), 2), texts) == ["新一", "新二"]


def test_what_is_unfit_takes_no_place() -> None:
    offers = ReviewSelector(ReviewState(decided_keys=frozenset({"的词"})), 2, lambda text: "的" in text)
    assert taken(offers, ["的词", "好的词", "页岩气", "致密油", "煤层气"]) == ["页岩气", "致密油"]
