"""Mining a corpus from end to end."""

import gzip
import json
import math
import unicodedata
from pathlib import Path

import jieba.posseg
import pytest

from domain.errors import LexiconError, SettingsError
from domain.term import Term
from lexicon import mining as build
from lexicon.c_value.candidates import _INVISIBLE, normalize_text
from lexicon.c_value.noise_filters import filter_general_words
from lexicon.counting.corpus import InMemoryCorpus
from lexicon.example_sentences import find_example_sentences
from lexicon.jieba_segmenter import JiebaSegmenter
from lexicon.mining import mine_terms
from lexicon.model.feature_report import REPORTED_FEATURES
from lexicon.settings import LexiconSettings
from tests.conftest import SHARED
from text.segment import RjiebaSegmenter

PAPER = LexiconSettings(scorer="c_value")
ARTICLES = [
    ("碳酸盐储层特征研究", "碳酸盐储层特征复杂。采用PDC钻头钻进。\n进行勘探。"),
    ("储层的评价", "碳酸盐储层特征与PDC 钻头的选型；Shale gas and shale gas wells."),
    ("", "Shale gas is not gasoline; our shale gas. 使用 PDC钻头，shale gas。"),
    ("", ""),
]


def varied(articles: list[tuple[str, str]], times: int) -> InMemoryCorpus:
    """Articles over and over, no line twice: a line that is repeated word by word counts once."""
    return InMemoryCorpus(
        tuple("\n".join(f"{line} [{n}]" if n else line for line in part.split("\n")) for part in article)
        for n in range(times)
        for article in articles
    )


def by_text(terms: list[Term]) -> dict[str, Term]:
    return {term.text: term for term in terms}


def test_terms_of_a_small_corpus() -> None:
    terms = by_text(mine_terms(InMemoryCorpus(ARTICLES), PAPER))
    drill = terms["PDC钻头"]
    assert (drill.frequency, drill.document_count, drill.pos_tags) == (3, 3, "eng n")
    assert drill.score == pytest.approx(3 * math.log2(5))
    assert drill.contexts == (
        "采用PDC钻头钻进。",
        "碳酸盐储层特征与PDC 钻头的选型；",
        "使用 PDC钻头，shale gas。",
    )
    gas = terms["shale gas"]  # its most frequent spelling
    assert (gas.frequency, gas.document_count) == (5, 2)
    assert "碳酸盐储层特征" in terms
    assert "进行勘探" not in terms


def test_terms_come_best_first() -> None:
    scores = [
        term.score
        for term in mine_terms(
            InMemoryCorpus(ARTICLES), LexiconSettings(scorer="c_value", threshold=-99.0, min_frequency=1)
        )
    ]
    assert len(scores) > 5
    assert scores == sorted(scores, reverse=True)


def test_threshold_is_to_be_exceeded_and_frequency_to_be_reached() -> None:
    exact = 3 * math.log2(5)
    assert "PDC钻头" in by_text(
        mine_terms(InMemoryCorpus(ARTICLES), LexiconSettings(scorer="c_value", threshold=exact - 1e-9))
    )
    assert "PDC钻头" not in by_text(
        mine_terms(InMemoryCorpus(ARTICLES), LexiconSettings(scorer="c_value", threshold=exact))
    )
    assert "PDC钻头" in by_text(
        mine_terms(InMemoryCorpus(ARTICLES), LexiconSettings(scorer="c_value", min_frequency=3))
    )
    assert "PDC钻头" not in by_text(
        mine_terms(InMemoryCorpus(ARTICLES), LexiconSettings(scorer="c_value", min_frequency=4))
    )


def test_length_unit_changes_the_score() -> None:
    assert (
        by_text(
            mine_terms(InMemoryCorpus(ARTICLES), LexiconSettings(scorer="c_value", length_unit="token", threshold=2.0))
        )["PDC钻头"].score
        == 3.0
    )


def test_the_method_of_the_paper_takes_the_tags_of_jieba() -> None:
    [term, *_] = mine_terms(InMemoryCorpus([("", "加强储层特征研究。" * 9)]), PAPER)
    tag_by_word = {pair.word: pair.flag for pair in jieba.posseg.cut("加强储层特征研究")}
    assert term.pos_tags == " ".join(tag_by_word[word] for word in JiebaSegmenter().cut(term.text))


def test_words_of_the_general_language_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    assert filter_general_words({"石油", "c++", "世界石油大会"}) == {"石油", "c++"}
    # A lexicon that tears a word of the dictionary apart would offer it as a term.
    torn = RjiebaSegmenter([("人工智", 1_000_000, "n"), ("能", 1_000_000, "n")])
    assert torn.cut("人工智能") == ["人工智", "能"]
    monkeypatch.setattr(build, "base_jieba_segmenter", lambda: torn)
    assert mine_terms(InMemoryCorpus([("", "人工智能。" * 9)]), PAPER) == []


def test_small_batches_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = mine_terms(InMemoryCorpus(ARTICLES), PAPER)
    monkeypatch.setattr(build, "RULE_BATCH_DOCUMENTS", 1)
    assert mine_terms(InMemoryCorpus(ARTICLES), PAPER) == expected


@pytest.mark.parametrize("articles", [[], [("", "")], [("\ud800\x00", "。" * 1000)], [("a b", "1 2 3")]], ids=ascii)
def test_a_corpus_without_terms(articles: list[tuple[str, str]]) -> None:
    assert mine_terms(InMemoryCorpus(articles), PAPER) == []
    assert mine_terms(InMemoryCorpus(articles), LexiconSettings()) == []


@pytest.mark.parametrize(
    "settings",
    [
        LexiconSettings(scorer="c_value", length_unit="?"),
        LexiconSettings(scorer="c_value", rules="?"),
        LexiconSettings(scorer="?"),
        LexiconSettings(scorer="c_value", tag_matching="?"),
    ],
    ids=str,
)
def test_unknown_names_in_the_settings(settings: LexiconSettings) -> None:
    with pytest.raises((SettingsError, LexiconError), match=r"lexicon\.\w+: '\?'"):
        mine_terms(InMemoryCorpus(ARTICLES), settings)


@pytest.mark.parametrize(
    ("text", "key", "context"),
    [
        ("甲。乙的页岩气！丙", "页岩气", "乙的页岩气！"),
        ("没有", "页岩气", None),
        ("用 PDC 钻头\n好", "pdc钻头", "用 PDC 钻头"),
        ("One. A Shale  Gas now. Two", "shale gas", "A Shale  Gas now."),
        ("他说：“好。”页岩气多。", "页岩气", "页岩气多。"),
        ("「好！」）页岩气多。」丙", "页岩气", "页岩气多。」"),
        ("前" * 50 + "页岩气" + "后" * 50, "页岩气", "前" * 8 + "页岩气" + "后" * 9),
        ("extraordinary circumstances of shale gas exploration", "shale gas", "of shale gas"),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_contexts(text: str, key: str, context: str | None) -> None:
    assert find_example_sentences(text, [key], 20).get(key) == context


@pytest.mark.shared
def test_contexts_and_counts_on_a_real_corpus() -> None:
    with gzip.open(SHARED / "data/terms/petro/docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [("", json.loads(line)["text"]) for line in lines]
    terms = mine_terms(InMemoryCorpus(texts), PAPER)
    assert len(terms) > 300
    assert len({term.text.casefold() for term in terms}) == len(terms)
    for term in terms:
        assert term.score > 3.0
        assert term.frequency >= max(2, term.document_count)
        assert 1 <= len(term.contexts) <= 3
        assert all(len(context) <= 80 for context in term.contexts)


def test_the_learned_scorer_finds_one_word_and_mixed_terms() -> None:
    english = ("Shale gas wells", "A shale gas reservoir is tight. We describe how shale gas wells are drilled.")
    terms = by_text(mine_terms(varied([*ARTICLES, english], 3), LexiconSettings(probability=0.1)))
    drill = terms["PDC钻头"]
    assert (drill.frequency, drill.document_count, drill.pos_tags) == (9, 9, "eng n")
    assert 0.1 < drill.score < 1
    assert drill.contexts == ("采用PDC钻头钻进。", "碳酸盐储层特征与PDC 钻头的选型；", "使用 PDC钻头，shale gas。")
    assert "储层" in terms
    assert "shale gas wells" in {text.lower() for text in terms}
    assert "进行勘探" not in terms
    scores = [term.score for term in terms.values()]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    "term", ["CO2驱", "PDC钻头", "3D打印", "β受体", "k-means聚类", "螺纹蠊虫", "shale gas wells"], ids=ascii
)
def test_mixed_english_and_new_words_are_found(term: str) -> None:
    # The dictionary knows none of them: `螺纹蠊虫` falls into characters.
    frames = [
        "本文研究{}的应用。",
        "采用{}后效果明显。",
        "对{}进行了评价；",
        "结果表明，{}有优势。",
        "We study {} here, and {}.",
    ]
    chinese = [frame.format(term) for frame in frames[:4]]
    texts = [("", text) for text in (chinese if term != "shale gas wells" else [frames[4].format(term, term)])]
    terms = by_text(mine_terms(varied([*ARTICLES, *texts], 2), LexiconSettings(probability=0.05)))
    assert terms[term].frequency >= 4


def test_readable_text_is_nfkc_without_invisible_characters() -> None:
    every = [chr(code) for code in range(0x20, 0x30000) if not 0xD800 <= code < 0xE000]
    for text in [
        "".join(every),
        *(f"a{char}甲" for char in every[:0x3000]),
        *(f"，{char}" for char in every[0xFE00:0xFFFF]),
    ]:
        plain = unicodedata.normalize("NFKC", text)
        assert normalize_text(text) == "".join(char for char in plain if not _INVISIBLE.match(char))


def test_probability_is_to_be_exceeded_and_frequency_to_be_reached() -> None:
    likely = mine_terms(varied(ARTICLES, 3), LexiconSettings(probability=0.3))
    assert likely
    assert all(term.score > 0.3 and term.frequency >= 2 for term in likely)
    assert not mine_terms(varied(ARTICLES, 3), LexiconSettings(probability=1.0))
    once = mine_terms(InMemoryCorpus(ARTICLES[:1]), LexiconSettings(probability=0.0, min_frequency=1))
    assert min(term.frequency for term in once) == 1


def test_remembered_counts_give_the_same_terms(tmp_path: Path) -> None:
    expected = mine_terms(InMemoryCorpus(ARTICLES), LexiconSettings(probability=0.1))
    for _ in range(2):
        assert mine_terms(InMemoryCorpus(ARTICLES), LexiconSettings(probability=0.1), counts_dir=tmp_path) == expected


def test_a_mined_term_says_what_its_score_is_made_of() -> None:
    texts = [("页岩气开发", f"四川页岩气开发提速{n}。页岩气开发成本下降，Shale gas wells pay off.") for n in range(30)]
    found = mine_terms(InMemoryCorpus(texts), LexiconSettings(probability=0.0))
    parts = {term.text: dict(term.score_components) for term in found}
    assert parts and all(list(values) == list(REPORTED_FEATURES) for values in parts.values())
    assert {len({values[name] for values in parts.values()}) > 1 for name in ("boundaries", "specific")} == {True}
    assert mine_terms(InMemoryCorpus(texts), LexiconSettings(scorer="c_value", threshold=0.0))[0].score_components == ()
