"""C-value against values worked out by hand (Wang Du 2019, WD-F4)."""

import math

import pytest

from domain.errors import SettingsError
from lexicon.c_value.c_value import CValue, find_nested_candidates
from lexicon.c_value.candidates import TermCandidate
from lexicon.counting.corpus import InMemoryCorpus
from lexicon.mining import mine_terms
from lexicon.settings import LexiconSettings


def corpus(*counted: tuple[str, int, int]) -> dict[str, TermCandidate]:
    return {text: TermCandidate(text, words, "", frequency, 1) for text, words, frequency in counted}


# f(石油)=0 would never be counted; 国际能源产业 10 times, of these 4 inside 国际能源产业链 ...
NESTED = corpus(
    ("能源产业", 2, 14),
    ("国际能源产业", 3, 10),
    ("国际能源产业链", 4, 4),
    ("新能源产业", 3, 2),
    ("油气勘探", 2, 5),
)


@pytest.mark.parametrize(
    ("term", "chars", "tokens"),
    [
        # in no longer one: log2|a| * f
        ("油气勘探", 2 * 5, 1 * 5),
        ("国际能源产业链", math.log2(7) * 4, 2 * 4),
        ("新能源产业", math.log2(5) * 2, math.log2(3) * 2),
        # in one longer one: 10 - 4/1
        ("国际能源产业", math.log2(6) * 6, math.log2(3) * 6),
        # in three longer ones, each counted once with its whole frequency: 14 - (10 + 4 + 2)/3
        ("能源产业", 2 * (14 - 16 / 3), 1 * (14 - 16 / 3)),
    ],
)
def test_c_value_by_hand(term: str, chars: float, tokens: float) -> None:
    assert CValue().scores(NESTED)[term] == pytest.approx(chars)
    assert CValue(count_words=True).scores(NESTED)[term] == pytest.approx(tokens)


@pytest.mark.parametrize(
    ("candidate", "above"),
    [
        (("油气", 2, 3), False),  # by characters a 2-character term needs f >= 4 at threshold 3
        (("油气", 2, 4), True),
        (("页岩气", 2, 2), True),  # 3 to 8 characters f >= 2
        (("页岩气", 2, 1), False),
        (("非常规油气藏储量评", 4, 1), True),  # 9 characters f >= 1
    ],
)
def test_what_threshold_three_means_in_characters(candidate: tuple[str, int, int], above: bool) -> None:
    assert (CValue().scores(corpus(candidate))[candidate[0]] > 3.0) is above


def test_one_token_never_scores_by_tokens() -> None:
    assert CValue(count_words=True).scores(corpus(("钻头", 1, 1000))) == {"钻头": 0.0}


def test_white_space_is_no_character() -> None:
    assert CValue().scores(corpus(("shale gas", 2, 3)))["shale gas"] == pytest.approx(3 * math.log2(8))


def test_no_candidates() -> None:
    assert CValue().scores({}) == {}


@pytest.mark.parametrize(
    ("container", "inside"),
    [
        ("shale gas reservoir", {"shale gas", "gas reservoir"}),
        ("shale gasoline", set()),  # gas in gasoline is no nesting
        ("PDC钻头".lower(), {"钻头"}),
        ("气藏气藏", {"气藏"}),  # twice inside, counted once
        ("shale gas", set()),  # not in itself
    ],
)
def test_nesting(container: str, inside: set[str]) -> None:
    keys = ["shale gas", "gas reservoir", "gas", "钻头", "dc钻头", "气藏", "shale gas reservoir"]
    assert (
        find_nested_candidates(
            container, corpus(*((key, 2, 1) for key in keys if key != "gas" or "gasoline" in container))
        )
        == inside
    )


def test_the_order_of_candidates_does_not_matter() -> None:
    backwards = dict(reversed(NESTED.items()))
    assert CValue().scores(backwards) == CValue().scores(NESTED)


@pytest.mark.parametrize(
    "settings",
    [LexiconSettings(scorer="tf_idf"), LexiconSettings(scorer="c_value", length_unit="syllable")],
    ids=["scorer", "unit"],
)
def test_unknown_names_are_refused(settings: LexiconSettings) -> None:
    with pytest.raises(SettingsError, match=r"lexicon\.(scorer|length_unit)"):
        mine_terms(InMemoryCorpus([]), settings)
