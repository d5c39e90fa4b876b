"""Segmentation: the text is never altered, the words of the domain are kept whole, and jieba is the reference."""

import gzip
import json
import pickle
import random
import re
from concurrent.futures import ThreadPoolExecutor

import jieba
import jieba.posseg
import pytest

from benchmarks.results import read_floors
from tests.conftest import SHARED
from text.folding import fold_width, word_key
from text.scripts import FOREIGN_LETTER
from text.segment import MAX_FREQUENCY, RjiebaSegmenter, Segmenter, base_segmenter

DOMAIN = [
    ("页岩气", 0, "n"),
    ("世界石油大会", 0, "nt"),
    ("国际能源产业", 0, "n"),
    ("PDC钻头", 0, "nz"),
    ("CO2驱油", 0, "n"),
    ("shale gas", 0, "eng"),
    ("shale-gas", 20, "eng"),
    ("GB/T 1234", 0, "nz"),
    ("AI", 0, "nz"),
    ("2号井", 0, "n"),
    ("C++", 0, "nz"),
    ("α-烯烃", 0, "n"),
    ("γσς", 0, "n"),
]


@pytest.fixture(scope="module")
def domain() -> RjiebaSegmenter:
    return RjiebaSegmenter(DOMAIN)


def laws(segmenter: Segmenter, text: str) -> None:
    words = segmenter.cut(text)
    assert "".join(words) == text
    assert "" not in words
    assert [word for word, _ in segmenter.tag(text)] == words


@pytest.mark.parametrize(
    "text",
    ["", " ", "\ud800", "页\udfff岩气", "页\x00岩气", "\r\n\n\t 　", "👨\u200d👩\u200d👧家庭", "\u200b页岩\u200b气",
     "ＰＤＣ钻头２０２４", "İstanbul İİ shale gas", "e\u0301\u0301", "한국어 日本語テキスト", "k-means 0.2mg 3%...",
     "ΓΣΣ.Α γσς ΓΣς", "𠮷野家", "-" * 50, "\U0010ffff"],
    ids=ascii,
)  # fmt: skip
def test_words_joined_are_the_text(domain: RjiebaSegmenter, text: str) -> None:
    laws(domain, text)
    laws(base_segmenter(), text)


def test_words_joined_are_the_text_for_random_strings(domain: RjiebaSegmenter) -> None:
    rng = random.Random(7)
    alphabet = "shalegas gb/t1234 页岩气号井钻头pdcPDC２２-－+.\ud800\x00\n\u3000İßαγσςΣ烯烃AIC的"
    for _ in range(3000):
        laws(domain, "".join(rng.choices(alphabet, k=rng.randrange(25))))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("四川页岩气开采技术", "页岩气"),
        ("第二十二届世界石油大会今天开幕", "世界石油大会"),
        ("国际能源产业的现状", "国际能源产业"),
        ("用PDC钻头钻进", "PDC钻头"),
        ("用 PDC 钻头钻进", "PDC 钻头"),
        ("用ＰＤＣ钻头钻进", "ＰＤＣ钻头"),
        ("超临界co2驱油技术", "co2驱油"),
        ("The Shale  Gas boom", "Shale  Gas"),
        ("The SHALE‐GAS boom", "SHALE‐GAS"),
        ("按GB／T 1234执行", "GB／T 1234"),
        ("用C++写", "C++"),
        ("α－烯烃磺酸盐", "α－烯烃"),
        ("AI和油田", "AI"),
        ("12口井和2号井", "2号井"),
    ],
)
def test_a_word_of_the_lexicon_is_kept_whole(domain: RjiebaSegmenter, text: str, word: str) -> None:
    assert word in domain.cut(text)
    assert dict(domain.tag(text))[word] == {word_key(w): tag for w, _, tag in DOMAIN}[word_key(word)]


@pytest.mark.parametrize("word", ["中石油", "国际能源产业", "世界石油大会"])  # the paper's examples
def test_the_plain_dictionary_cuts_what_a_lexicon_keeps(word: str) -> None:
    assert len(base_segmenter().cut(word)) > 1
    assert RjiebaSegmenter([(word, 0, "n")]).cut(word) == [word]


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("OpenAI说", "AI"),
        ("AIS系统", "AI"),
        ("12号井", "2号井"),
        ("shale gases", "shale gas"),
        ("shale\ngas", "shale gas"),
    ],
)
def test_a_term_is_not_found_inside_another_word(domain: RjiebaSegmenter, text: str, absent: str) -> None:
    assert absent not in [word_key(word) for word in domain.cut(text)] + domain.cut(text)


def test_the_longest_term_wins() -> None:
    words = [("AI", 0, "n"), ("AI 芯片", 0, "n"), ("AI芯片设计", 0, "n"), ("页岩", 0, "n"), ("页岩油气藏", 0, "n")]
    assert RjiebaSegmenter(words).cut("AI芯片设计用AI芯片，页岩油气藏") == [
        "AI芯片设计",
        "用",
        "AI芯片",
        "，",
        "页岩油气藏",
    ]


def test_a_given_frequency_is_used_and_zero_is_chosen() -> None:
    text, word = "提高采收率的方法", "采收率的方法"
    assert word in RjiebaSegmenter([(word, 0, "n")]).cut(text)
    assert word in RjiebaSegmenter([(word, MAX_FREQUENCY, "n")]).cut(text)
    # 1 in 60 million is less likely than 研究 and 所 one after the other.
    assert "研究所有" not in RjiebaSegmenter([("研究所有", 1, "n")]).cut("我研究所有问题")
    assert "研究所有" in RjiebaSegmenter([("研究所有", 0, "n")]).cut("我研究所有问题")


def test_a_word_of_the_dictionary_takes_the_tag_of_the_lexicon() -> None:
    assert base_segmenter().tag("开发") == [("开发", "v")]
    assert RjiebaSegmenter([("开发", 0, "nz")]).tag("开发") == [("开发", "nz")]


def test_segmenters_are_isolated_from_each_other() -> None:
    before = base_segmenter().cut("四川页岩气开采")
    RjiebaSegmenter([("四川页岩气", 0, "n")])
    assert base_segmenter().cut("四川页岩气开采") == before
    assert "四川页岩气" not in before


def test_a_segmenter_is_pickled_by_its_words(domain: RjiebaSegmenter) -> None:
    text = "第二十二届世界石油大会谈PDC 钻头"
    assert pickle.loads(pickle.dumps(domain)).tag(text) == domain.tag(text)


def test_threads_may_share_a_segmenter(domain: RjiebaSegmenter) -> None:
    texts = [f"第{n}届世界石油大会谈PDC钻头与shale gas" * 20 for n in range(200)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(domain.cut, texts)) == [domain.cut(text) for text in texts]


@pytest.mark.parametrize(
    "word", [("", 0, "n"), ("  ", 0, "n"), ("长" * 101, 0, "n"), ("页岩气", -1, "n"), ("页岩气", 10**12, "n")]
)
def test_unusable_words_are_refused(word: tuple[str, int, str]) -> None:
    with pytest.raises(ValueError, match=r"word|frequency"):
        RjiebaSegmenter([word])


@pytest.mark.parametrize(
    ("text", "key"),
    [("ＰＤＣ 钻头", "pdc钻头"), ("Shale  Gas ", "shale gas"), ("Shale–Gas", "shale-gas"), ("页岩 气", "页岩气"),
     ("ΓΣς", "γσσ"), ("İ", "İ"), ("GB／T\u30001234", "gb/t 1234"), ("", "")],
)  # fmt: skip
def test_word_key(text: str, key: str) -> None:
    assert word_key(text) == key
    assert word_key(key) == key


REFERENCE = (
    "工信处女干事每月经过下属科室都要亲口交代24口交换机等技术性器件的安装工作。用k-means聚类,剂量0.2mg,3.5%左右,"
    "第二十二届世界石油大会于2017年7月9日在伊斯坦布尔召开；AT&T和C++、RT-PCR(t-1)都在。Nutr.Rev 236-239, 10-9...end--"
)


def test_cut_is_jiebas_cut_with_and_without_user_words() -> None:
    reference = jieba.Tokenizer()
    assert base_segmenter().cut(REFERENCE) == list(reference.cut(REFERENCE))
    for word in ("世界石油大会", "技术性器件"):
        reference.add_word(word)
    ours = RjiebaSegmenter([("世界石油大会", 0, "n"), ("技术性器件", 0, "n")])
    assert ours.cut(REFERENCE) == list(reference.cut(REFERENCE))
    assert "世界石油大会" in ours.cut(REFERENCE)


def sentences(how_many: int) -> list[str]:
    found: list[str] = []
    for name in ("petro", "scicn", "csl"):
        with gzip.open(SHARED / "data" / "terms" / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                found += [s for s in re.split(r"(?<=[。！？\n])", json.loads(line)["text"]) if s.strip()]
    return random.Random(1).sample(found, how_many)


@pytest.mark.shared
@pytest.mark.parametrize(
    "with_words",
    [
        pytest.param(False, id="plain dictionary", marks=pytest.mark.exhaustive),
        pytest.param(True, id="with user words"),
    ],
)
def test_parity_with_jieba(with_words: bool) -> None:
    words = [w for w in (SHARED / "data/terms/petro/seed.txt").read_text(encoding="utf-8").split("\n") if len(w) > 1]
    words = sorted(w for w in words if re.fullmatch("[\u4e00-\u9fd5]+", w)) if with_words else []
    reference = jieba.Tokenizer()
    for word in words:
        reference.add_word(word, tag="n")
    # jieba's own choice of a frequency differs by rounding; the division is what is compared.
    ours = RjiebaSegmenter((word, reference.FREQ[word], "n") for word in words)
    # jieba cuts a word with a letter outside ASCII into pieces; ours keeps it whole.
    texts = [fold_width(text) for text in sentences(2000) if not re.search(FOREIGN_LETTER, text)]
    equal = sum(ours.cut(text) == list(reference.cut(text)) for text in texts) / len(texts)
    tags = tag_parity(ours, jieba.posseg.POSTokenizer(reference), texts[:500])
    print(f"\ncut equal in {equal:.4f} of {len(texts)} sentences, tags equal in {tags:.4f} of the common words")
    assert equal >= read_floors("segmentation")["share of sentences cut as jieba cuts them"]
    assert tags >= 0.95


def tag_parity(ours: Segmenter, reference: jieba.posseg.POSTokenizer, texts: list[str]) -> float:
    same = common = 0
    for text in texts:
        mine = located(ours.tag(text))
        theirs = located([(pair.word, pair.flag) for pair in reference.cut(text)])
        common += len(mine.keys() & theirs.keys())
        same += len(mine.items() & theirs.items())
    return same / common


def located(tagged: list[tuple[str, str]]) -> dict[tuple[int, str], str]:
    at, found = 0, {}
    for word, tag in tagged:
        found[at, word] = tag
        at += len(word)
    return found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Präsidentin journée", ["Präsidentin", " ", "journée"]),
        ("бурение скважины", ["бурение", " ", "скважины"]),
        ("シェールガスの生産", ["シェールガス", "の", "生産"]),
        ("셰일가스를 시추", ["셰일가스를", " ", "시추"]),
        ("हिन्दी भाषा", ["हिन्दी", " ", "भाषा"]),
        ("用naïve方法钻井", ["用", "naïve", "方法", "钻井"]),
        ("CO2②と", ["CO2", "②", "と"]),
    ],
)
def test_words_with_letters_outside_ascii_stay_whole(text: str, words: list[str]) -> None:
    assert base_segmenter().cut(text) == words
    assert [word for word, _ in base_segmenter().tag(text)] == words
