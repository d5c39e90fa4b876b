"""What is reviewed next: the scores at first, and more and more what the decisions say."""

import random
from dataclasses import replace

from domain.term import Term, TermStatus
from lexicon.review_ranking import predict_acceptance, score_priors
from text.similarity.similar_terms import SimilarTermIndex

ACCEPTED, REJECTED = TermStatus.ACCEPTED, TermStatus.REJECTED


def candidate(text: str, score: float, left: float = 0.0) -> Term:
    return Term(text, score, 5, 3, "n n", score_components=(("left", left),))


def drawn(count: int, seed: int) -> list[Term]:
    """Candidates whose scores say nothing, whose part `left` says all."""
    chance = random.Random(seed)
    letters = [chr(0x4E00 + n) for n in range(400)]
    return [
        candidate("".join(chance.choices(letters, k=4)), chance.random(), chance.choice((-1.0, 1.0)))
        for _ in range(count)
    ]


def decided(terms: list[Term]) -> list[Term]:
    return [replace(term, status=ACCEPTED if term.score_components[0][1] > 0 else REJECTED) for term in terms]


def share_of_good(order: dict[str, float], terms: list[Term], first: int) -> float:
    best = sorted(terms, key=lambda term: -order[term.text])[:first]
    return sum(term.score_components[0][1] > 0 for term in best) / first


def test_without_decisions_it_is_what_the_scores_say() -> None:
    terms = [candidate("甲词", 0.4), candidate("乙词", 0.9)]
    assert predict_acceptance([], terms) == {"甲词": 0.4, "乙词": 0.9}
    assert predict_acceptance([], []) == {} == predict_acceptance(decided(drawn(30, 1)), [])


def test_a_score_that_is_no_probability_counts_by_its_place() -> None:
    assert score_priors([candidate("甲", 12.0), candidate("乙", 3.0)]).tolist() == [0.9, 0.5]


def test_what_was_decided_comes_to_count() -> None:
    candidates = drawn(300, 1)
    assert share_of_good(predict_acceptance([], candidates), candidates, 100) < 0.65
    assert share_of_good(predict_acceptance(decided(drawn(200, 2)), candidates), candidates, 100) > 0.9


def test_a_few_decisions_change_little() -> None:
    candidates = [candidate(f"词{n:02}", n / 100) for n in range(5, 95)]
    order = predict_acceptance([replace(candidate("他词", 0.5), status=ACCEPTED)] * 6, candidates)
    ranked = sorted(candidates, key=lambda term: -order[term.text])
    assert {term.text for term in ranked[:20]} & {term.text for term in candidates[-30:]}
    assert order == predict_acceptance([replace(candidate("他词", 0.5), status=ACCEPTED)] * 6, candidates)


def test_characters_count_too() -> None:
    good = [replace(candidate(f"{head}钻井", 0.5), status=ACCEPTED) for head in "甲乙丙丁戊己庚辛"] * 4
    bad = [replace(candidate(f"{head}记者", 0.5), status=REJECTED) for head in "甲乙丙丁戊己庚辛"] * 4
    order = predict_acceptance(good + bad, [candidate("水平钻井", 0.5), candidate("本报记者", 0.5)])
    assert order["水平钻井"] > 0.55 > 0.45 > order["本报记者"]


def test_similar_terms_share_most_of_their_pieces() -> None:
    known = SimilarTermIndex(["页岩气", "页岩油", "页岩气水平井钻井", "shale gas", "ＰＤＣ钻头", "天然气"])
    assert known.find_similar("页岩气井", 5) == ["页岩气", "页岩气水平井钻井", "页岩油"]
    assert known.find_similar("页岩气", 1) == ["页岩油"]
    assert known.find_similar("Shale Gas Well", 3) == ["shale gas"]
    assert known.find_similar("PDC 钻头", 3) == ["ＰＤＣ钻头"]
    assert known.find_similar("无关词语", 3) == [] == SimilarTermIndex([]).find_similar("页岩气", 3)
