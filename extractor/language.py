"""The language of a text, told by its script: Chinese or English, which is all the index treats differently."""

import re

SAMPLE = 2_000
HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
KANA_OR_HANGUL = re.compile("[\u3040-\u30ff\uac00-\ud7af]")
LATIN = re.compile("[A-Za-z]")
CHINESE_SHARE = 0.1  # of Han in all letters; a Chinese character says as much as several Latin letters


def language_of(text: str) -> str:
    """`zh`, `en` (any text in Latin letters), or "" for other scripts and for text without letters."""
    sample = text[:SAMPLE]
    han, latin = len(HAN.findall(sample)), len(LATIN.findall(sample))
    letters = sum(char.isalpha() for char in sample)
    if len(KANA_OR_HANGUL.findall(sample)) * 10 > letters:
        return ""
    if han > CHINESE_SHARE * letters:
        return "zh"
    return "en" if latin * 2 > letters else ""
