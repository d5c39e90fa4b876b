"""Detects garbled text: a font without a usable Unicode map yields characters that form no words.

    is_garbled("123456+,789: 犛犲犮狌狉犲犲犾犲犮狋狉狅狀犻犮")    True
    is_garbled("Secure electronic seal, 安全电子签章")     False

Unreadable characters are counted with cheap rules: rare characters, words that cannot be pronounced, mixed scripts and
symbols, private-use and control characters. If they are a large share, the dictionaries of general language decide.
Numbers and punctuation do not count.
"""

import re
import unicodedata
from collections import Counter
from functools import cache, lru_cache

from extractor.fields.language import LANGUAGES_BY_WORD
from text.scripts import HAN, UNSPACED_SCRIPTS, mixed_script_reason
from text.segment import cut_by_dictionary

MIN_UNREADABLE_CHARS = 25
MIN_UNREADABLE_SHARE = 0.3
MAX_KNOWN_SHARE = 0.15  # of characters in words of the dictionaries, in a garbled text
MAX_COMMON_WORD_SHARE = 0.05  # of common words of any language in the Latin words of a garbled text
MIN_COMMON_WORD_CHARS = 3  # shorter words also occur by chance
# Chinese with at least this share of function characters is not looked up in the dictionary.
MIN_FUNCTION_CHAR_SHARE = 0.08
MIN_HAN_CHARS = 30  # for the rules on function characters and on dictionary words
MIN_HAN_WORD_SHARE = 0.4  # of Chinese characters in dictionary words of at least two characters
MAX_KANA_SHARE = 0.05  # of kana in a text whose characters are looked up in the Chinese dictionary
MAX_ACRONYM_CHARS = 5
MIN_EVIDENT_SHARE = 0.12  # of function words or characters in a page that is not measured
MAX_EVIDENT_WORD_CHARS = 10  # average length of its words, blanks included
MIN_SYMBOL_KINDS = 3  # different signs of a run of signs that is no punctuation

HAN_RE = re.compile(f"[{HAN}]+")
KANA_RE = re.compile("[\u3040-\u30ff]")
KANA_AND_HANGUL_RE = re.compile("[\u3040-\u30ff\uac00-\ud7af]")
LINE_END_HYPHEN_RE = re.compile("[\x02\ufffe]")  # of PDFium
UNMAPPED_CHAR_RE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff]")
TOKEN_RE = re.compile(f"[^\\s{UNSPACED_SCRIPTS}\x00-\x1f\x7f-\x9f\ufffd\U000f0000-\U0010ffff]+")
NUMBER_RE = re.compile(
    r"[-+~<>=±≤≥(\[$€¥£#]*\d+(?:[.,:/%°×x*\-–—()\[\]]+\d+)*[)\].,:;%°+*-]*|[0-9a-fA-F]{2,}"  # also hexadecimal
)
WORD_RE = re.compile(r"[^\W\d_]+")
LETTER_CLUSTER_RE = re.compile("[bcdfghjklmnpqrstvwxz]{4}|[aeiouy]{4}", re.IGNORECASE)  # rare in words of any language
NON_ASCII_LATIN_RE = re.compile("[\u00a1-\u024f]")  # dense where bytes of another encoding were read as Latin letters
LAST_LATIN_LETTER = "\u024f"
FUNCTION_CHARS = frozenset(
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法"
    "所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四"
    "日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立"
    "這個為會來們發對經過說學與關國時產種動後進現實體機當點從業應開還"
)


def is_garbled(text: str) -> bool:
    """Return True if the text of a page is not language. At least MIN_UNREADABLE_CHARS must show it."""
    if is_evident_language(text):
        return False
    text = unicodedata.normalize("NFKC", LINE_END_HYPHEN_RE.sub("", text))
    han = "".join(HAN_RE.findall(text))
    tokens = Counter(TOKEN_RE.findall(text))
    unreadable = len(UNMAPPED_CHAR_RE.findall(text)) + count_unreadable_han(text, han)
    total = len(UNMAPPED_CHAR_RE.findall(text)) + len(han) + len(KANA_AND_HANGUL_RE.findall(text))
    for token, count in tokens.items():
        unreadable_chars, letters = measure_token(token)
        unreadable += count * unreadable_chars
        total += count * max(unreadable_chars, letters)
    if unreadable < max(MIN_UNREADABLE_CHARS, MIN_UNREADABLE_SHARE * total):
        return False
    return not is_latin_language(tokens, total) and count_known_chars(text, han, tokens) <= MAX_KNOWN_SHARE * total


def is_evident_language(text: str) -> bool:
    """Return True for most pages of language, in a tenth of the time: many of their words or characters are common."""
    words = text.split()
    if sum(map(LANGUAGES_BY_WORD.__contains__, words)) >= MIN_EVIDENT_SHARE * len(words):
        return len(text) <= MAX_EVIDENT_WORD_CHARS * len(words)
    return sum(map(FUNCTION_CHARS.__contains__, text)) >= MIN_EVIDENT_SHARE * len(text)


def count_unreadable_han(text: str, han: str) -> int:
    """Return the number of rare Chinese characters; all characters outside words if they form too few words."""
    rare_count = sum(char not in common_han_chars() for char in han)
    if len(han) < MIN_HAN_CHARS or 2 * rare_count > len(han):
        return rare_count
    if sum(char in FUNCTION_CHARS for char in han) >= MIN_FUNCTION_CHAR_SHARE * len(han):
        return rare_count
    if len(KANA_RE.findall(text)) > MAX_KANA_SHARE * len(han):
        return rare_count
    word_chars = count_word_chars(han)
    return rare_count if word_chars >= MIN_HAN_WORD_SHARE * len(han) else len(han) - word_chars


def count_word_chars(han: str) -> int:
    """Return the number of Chinese characters in dictionary words of at least two characters."""
    return sum(len(word) for word in cut_by_dictionary(han) if len(word) > 1)


@cache
def common_han_chars() -> frozenset[str]:
    """Return the first levels of GB 2312, Big5 and JIS X 0208: the characters of nearly all Chinese and Japanese."""
    rows = (("gb2312", range(0xB0, 0xD8)), ("big5", range(0xA4, 0xC7)), ("euc_jp", range(0xB0, 0xD0)))
    codes = ((bytes((row, cell)), codec) for codec, numbers in rows for row in numbers for cell in range(0x40, 0xFF))
    return frozenset(code.decode(codec, "ignore") for code, codec in codes)


@lru_cache(maxsize=50_000)
def measure_token(token: str) -> tuple[int, int]:
    """Return the number of unreadable characters and of letters of a run of characters without blanks."""
    if NUMBER_RE.fullmatch(token):
        return 0, 0
    words = WORD_RE.findall(token)
    if len(NON_ASCII_LATIN_RE.findall(token)) * 2 > len(token):
        return len(token), 0
    if not words:
        signs = {char for char in token if not char.isdigit()}
        return (len(token), 0) if len(signs) >= MIN_SYMBOL_KINDS else (0, 0)
    inner_signs = {char for char in token.strip("()[]{}\"'“”‘’.,;:!?…-–—•*") if not char.isalnum()}
    if len(inner_signs) >= 2 and max(map(len, words)) <= 2:
        return len(token), 0
    return sum(len(word) for word in words if not is_plausible_word(word)), sum(map(len, words))


def is_plausible_word(word: str) -> bool:
    """Return False for a word with letters of several scripts, or with many consonants or vowels in a row.

    Acronyms are plausible.
    """
    if max(word) > LAST_LATIN_LETTER:
        return not mixed_script_reason(word)
    return not LETTER_CLUSTER_RE.search(word) or (word.isupper() and len(word) <= MAX_ACRONYM_CHARS)


def is_latin_language(tokens: Counter[str], total: int) -> bool:
    """Return True if Latin words are at least half of `total` characters and enough of them are common words."""
    word_counts = Counter[str]()
    for token, count in tokens.items():
        for word in WORD_RE.findall(token):
            if len(word) >= MIN_COMMON_WORD_CHARS and max(word) <= LAST_LATIN_LETTER:
                word_counts[word.lower()] += count
    letters = sum(len(word) * count for word, count in word_counts.items())
    common_count = sum(count for word, count in word_counts.items() if word in LANGUAGES_BY_WORD)
    return 2 * letters >= total and common_count > MAX_COMMON_WORD_SHARE * word_counts.total()


def count_known_chars(text: str, han: str, tokens: Counter[str]) -> int:
    """Return the number of characters in words of the dictionaries, kana and Hangul."""
    known_chars = count_word_chars(han) + len(KANA_AND_HANGUL_RE.findall(text))
    for token, count in tokens.items():
        known_chars += count * sum(len(word) for word in WORD_RE.findall(token) if is_known_word(word))
    return known_chars


def is_known_word(word: str) -> bool:
    """Return True for an English word, a common word of another language, and a plausible word of another alphabet."""
    if min(word) > LAST_LATIN_LETTER:
        return len(word) >= MIN_COMMON_WORD_CHARS and is_plausible_word(word)
    return len(word) > 1 and (word.lower() in LANGUAGES_BY_WORD or word.lower() in english_words())


@cache
def english_words() -> frozenset[str]:
    """Return the words of the English dictionary. Loading it takes 0.15 s, so only doubtful pages need it."""
    from spellchecker import SpellChecker

    return frozenset(SpellChecker(language="en").word_frequency.keys())
