"""Garbled text: text layers of fonts without a usable Unicode map, and texts that only look like them."""

import random
import string

import pytest
from spellchecker import SpellChecker

from extractor.documents.garbled_text import is_garbled

ENGLISH = (
    "The harbour was opened again on Monday, the port authority said in a statement after three weeks of storms. "
    "Forty ships had waited outside, and the first of them came in at noon with grain from the south."
)
CHINESE = (
    "大庆油田今天宣布，今年前三个季度的原油产量超过去年同期，创下五年来的新高，公司将继续推进技术创新。"
    "负责人表示，下一步将加快页岩油的勘探和开发，提高采收率，同时保护当地的环境。"
)
TRADITIONAL = (
    "本會今天發表聲明，說明過去一年的工作情況，並對學術機構提出建議，"
    "希望各界繼續支持語言文字的研究與教學工作，共同推動。"
)
JAPANESE = "東京都は昨日、来年度の予算案を発表した。総額は過去最高となり、防災対策や子育て支援に重点を置く方針である。"
KOREAN = "서울시는 어제 내년도 예산안을 발표했다. 총액은 역대 최고이며 방재와 육아 지원에 중점을 둔다는 방침이다."
ARABIC = "أعلنت المدينة أمس عن ميزانية العام المقبل، وهي الأعلى في تاريخها، وتركز على الوقاية من الكوارث ودعم الأسرة."
RUSSIAN = "Город вчера объявил о бюджете на следующий год: он самый большой в истории и поддержит семьи с детьми."
POLISH = "Miasto ogłosiło wczoraj budżet na przyszły rok, który jest największy w historii i wspiera rodziny z dziećmi."
GERMAN = (
    "Die Geschwindigkeitsbeschränkung und der Rechtschreibwettbewerb sind nach der Abschlusskonferenz nicht strittig."
)
VIETNAMESE = "Thành phố hôm qua đã công bố ngân sách cho năm tới, là mức cao nhất trong lịch sử và hỗ trợ các gia đình."
CODE = "for (i = 0; i < n; i++) { a[i] += b[i] * c; if (a[i] != 0) return &a[i]; } /* sum of products */ #define N 10\n"
TABLE = "\n".join(f"{number}\t{number * 3.5:.2f} ({number}.0%) {number}-{number + 3}" for number in range(60))
HAN_NAMES = "王建国 李秀英 张伟 刘洋 陈静 杨帆 赵磊 黄婷 周涛 吴敏 徐丽 孙杰 胡军 朱琳 高峰 林娜 何勇 郭倩 马超 罗玉"


def substitute(text: str, alphabet: str, pool: list[str]) -> str:
    """Replace each character of an alphabet with a random character of a pool, always with the same one."""
    targets = random.Random(7).sample(pool, len(set(alphabet)))
    return text.translate(dict(zip(map(ord, sorted(set(alphabet))), targets, strict=True)))


def shift(text: str, offset: int) -> str:
    return "".join(chr(ord(char) + offset) if " " < char < "\x7f" else char for char in text)


def private_use(text: str) -> str:
    return substitute(text, text, [chr(code) for code in range(0xE000, 0xF000)])


GARBLED = {
    "national standard": (
        "犐犆犛３５．０４０ !\"#：４４６３２—２０１４ $%&'()*+,-./0 123456+,789: "
        "犛犲犮狌狉犲犲犾犲犮狋狉狅狀犻犮狊犲犪犾犮狉狔狆狋狅犵狉犪狆犺狔"
    ),
    "rare characters": substitute(CHINESE, CHINESE, [chr(code) for code in range(0x4E00, 0x9FA6)]),
    "common characters": substitute(
        CHINESE,
        CHINESE,
        [bytes((row, cell)).decode("gb2312") for row in range(0xB0, 0xD7) for cell in range(0xA1, 0xFF)],
    ),
    "private use": private_use(CHINESE),
    "control characters": substitute(ENGLISH, ENGLISH, [chr(code) for code in range(1, 32)] + list("!#$%&*+;@\\^{}")),
    "replacement characters": "\ufffd" * 80,
    "bytes of GBK": CHINESE.encode("gbk").decode("latin-1"),
    "bytes of UTF-8": CHINESE.encode().decode("latin-1"),
    "glyph numbers": "".join(chr(ord(char) - 29) for char in ENGLISH),
    "glyph numbers as characters": substitute(CHINESE, CHINESE, [chr(code) for code in range(0x370, 0x3000)]),
    "letters shifted": shift(ENGLISH.lower(), 3),
    "letters moved to Chinese characters": shift(ENGLISH, 0x7220).replace(" ", ""),
}


@pytest.mark.parametrize("name", GARBLED)
def test_text_of_fonts_without_a_unicode_map_is_garbled(name: str) -> None:
    assert is_garbled(GARBLED[name])


EAST_ASIAN = [CHINESE, TRADITIONAL, JAPANESE, KOREAN, HAN_NAMES]
OTHERS = [ENGLISH, ARABIC, RUSSIAN, POLISH, GERMAN, VIETNAMESE, CODE, TABLE]


@pytest.mark.parametrize("text", EAST_ASIAN + OTHERS)
def test_language_code_and_tables_are_not_garbled(text: str) -> None:
    assert not is_garbled(text)
    assert not is_garbled(text.upper())


@pytest.mark.parametrize("language", ["de", "es", "fr", "it", "nl", "pt", "ru", "lv", "eu", "ar", "fa"])
def test_words_of_other_languages_are_not_garbled(language: str) -> None:
    words = sorted(SpellChecker(language=language).word_frequency.keys())
    assert not is_garbled(" ".join(random.Random(1).sample(words, 300)))


def test_formulas_among_words_and_few_characters_are_not_judged() -> None:
    formulas = "∀x∈X: ∃y≤f(x)·‖z‖²+{a,b}∖∅ " * 3
    assert not is_garbled(ENGLISH + formulas)
    assert not is_garbled("犛犲犮狌狉犲 +,-./")
    assert not is_garbled("")
    assert is_garbled(ENGLISH[:60] + GARBLED["national standard"] * 6), "a readable line does not clear a page"
    assert not is_garbled(string.punctuation + ENGLISH)
