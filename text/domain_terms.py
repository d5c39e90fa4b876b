"""Distinguishes terms that name a thing of the domain from persons, units and descriptions. No I/O."""

import re

from text.folding import word_key
from text.pinyin import split_pinyin
from text.segment import Segmenter, cut_by_dictionary, is_in_dictionary

# The hundred most frequent surnames, for names that the segmenter does not tag as such.
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏"
    "吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
)
_PERSON_WORD_RE = re.compile("人员|人士|工程师|专家|职工|员工|记者|作者|编辑|领导|同志")
_PERSON_TAG, _ADJECTIVE_TAG = "nr", "a"  # prefixes of jieba's tags
_UNIT_TAGS = "mq"  # numerals and measure words
_CLASSIFIERS = "个台条只名辆架艘座口位份件套家所批根张"  # of things: not 次 or 级, as in 二次电池 and 一级建造师
_UNIT_NAMES = """
mm cm m km m2 m3 km2 kg t kt mt l ml bbl kw mw gw kwh mwh gwh twh pa kpa mpa gpa bar psi hz khz mhz ghz kb mb gb
立方米 平方米 平方公里 千瓦时 兆瓦 吉瓦 兆帕 百分点 人民币 美元
"""
_UNITS = frozenset(_UNIT_NAMES.split())
_ENGLISH_AMOUNT_RE = re.compile(
    r"(?:(?:hundred|thousand|million|billion|trillion|cubic|square|metric|per)\s+)*"
    r"(?:(?:kilo|centi|milli)?(?:metre|meter|gram|watt)|foot|feet|inch|mile|ton|tonne|barrel|hectare|acre|dollar|yuan|day|year)"
    r"(?:e?s)?(?:[ -]hours?)?(?: ago)?",
    re.IGNORECASE,
)


def is_domain_term(term: str, base_segmenter: Segmenter) -> bool:
    """Return True if the term names a thing of the domain: no person, no unit, and no description (`周期长`)."""
    if _PERSON_WORD_RE.search(term) or is_quantity(term, base_segmenter) or is_person_name(term, base_segmenter):
        return False
    return not _ends_in_adjective(term, base_segmenter)


def is_person_name(term: str, base_segmenter: Segmenter) -> bool:
    """Return True for a name of a person: tagged as such, a surname with one or two characters, or pinyin.

    Dictionary words are never names, although some minerals are tagged as names (石英).
    """
    if is_in_dictionary(term):
        return False
    if term.isascii():
        return _is_romanized_name(term)
    tagged_words = base_segmenter.tag(term)
    is_person_tag = [tag.startswith(_PERSON_TAG) for _, tag in tagged_words]
    is_surname_alone = len(tagged_words) == 2 and len(tagged_words[0][0]) == 1
    return all(is_person_tag) or (len(term) <= 3 and term[0] in _SURNAMES and (any(is_person_tag) or is_surname_alone))


def is_quantity(term: str, base_segmenter: Segmenter) -> bool:
    """Return True for a unit of measurement, a number, an amount (`million tons`) or counted things (一台服务器)."""
    if word_key(term) in _UNITS or _ENGLISH_AMOUNT_RE.fullmatch(term):
        return True
    tagged_words = base_segmenter.tag(term)
    first, first_tag = tagged_words[0]
    if first_tag.startswith("m") and len(first) > 1 and first[-1] in _CLASSIFIERS and not is_in_dictionary(term):
        return True
    return all(tag[:1] in _UNIT_TAGS for _, tag in tagged_words)


def _ends_in_adjective(term: str, base_segmenter: Segmenter) -> bool:
    """Return True if the term ends in an adjective: 周期长 does, although it is a dictionary word; 埋深 does not."""
    is_split = len(term) > 2 and is_in_dictionary(term[:-1])
    last = term[-1] if is_split else cut_by_dictionary(term)[-1]
    return len(term) - len(last) != 1 and base_segmenter.tag(last)[-1][1].startswith(_ADJECTIVE_TAG)


def _is_romanized_name(term: str) -> bool:
    """Return True for a Chinese name in pinyin: `Feng Zhiyuan`."""
    family_name, _, given_name = term.lower().partition(" ")
    family_readings, given_readings = split_pinyin(family_name), split_pinyin(given_name)
    return any(len(reading) == 1 for reading in family_readings) and any(
        len(reading) <= 2 for reading in given_readings
    )
