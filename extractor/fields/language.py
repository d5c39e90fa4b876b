"""Detects the language of a text: by its script if that is enough, by common words for Latin scripts."""

import re
from collections import Counter

from text.scripts import HAN

SAMPLE_CHARS = 1_000
MIN_COMMON_WORDS = 2  # minimum number of common words of a language in the sample ...
MIN_COMMON_WORD_SHARE = 0.04  # ... and their minimum share of all words
MAX_COUNT_PER_WORD = 3  # a word repeated in a list or in names ("iPhone 15 Pro") is no more evidence than this
MIN_DISTINCT_WORDS = 2  # minimum number of different common words of a language other than the expected one ...
MIN_UNDECLARED_DISTINCT_WORDS = 3  # ... if the page declares a language
MIN_UNKNOWN_DISTINCT_SHARE = 0.6  # ... and their minimum share, if it declares one that is not in COMMON_WORDS
MIN_MARGIN = 1.5  # minimum ratio of its common words to those of the declared language
SHORT_TEXT_WORDS = 30  # shorter texts without enough common words default to English
HAN_RE = re.compile(f"[{HAN}]+")
LATIN_RE = re.compile("[A-Za-z\u00c0-\u024f]+")
NON_LATIN_RE = re.compile(f"[\u0370-\u1fff\u3040-\ufaff{HAN}]+")
MIN_HAN_SHARE = 0.1  # of Han in all letters; one Chinese character corresponds to several Latin letters
MIN_DECLARED_HAN_SHARE = 0.03  # the same, if the page declares Chinese: the other letters may be code
MIN_KANA_HANGUL_SHARE = 0.1  # of kana or Hangul in all letters; Chinese text contains neither
# Language, its letters, and their minimum share of all letters. Letters of a single language precede the letters of
# its script.
SCRIPT_LANGUAGES = (
    ("ja", re.compile("[\u3040-\u30ff]+"), MIN_KANA_HANGUL_SHARE),
    ("ko", re.compile("[\uac00-\ud7af]+"), MIN_KANA_HANGUL_SHARE),
    ("th", re.compile("[\u0e00-\u0e7f]+"), 0.3),
    ("el", re.compile("[\u0370-\u03ff]+"), 0.3),
    ("he", re.compile("[\u0590-\u05ff]+"), 0.3),
    ("hi", re.compile("[\u0900-\u097f]+"), 0.3),
    ("fa", re.compile("[پچژگ]+"), 0.01),
    ("ar", re.compile("[\u0600-\u06ff]+"), 0.3),
    ("uk", re.compile("[іїєґІЇЄҐ]+"), 0.02),
    ("ru", re.compile("[\u0400-\u04ff]+"), 0.3),
)
# The most frequent short words that few related languages share. Single letters also name units, sections and axes. A
# word that is as frequent in English is in the English list too.
COMMON_WORDS = {
    "en": "the and of to in is that for with was are this have from on at by as do",
    "de": "der die und das ist nicht ein den mit auf für dem sich von",
    "fr": "le les des est et une dans pour que qui sur pas du au",
    "es": "el los las que del una por con para es en se como más",
    "it": "il che di della per una non gli sono con del nel è anche",
    "pt": "os que não uma para com do da dos das em por mais foi",
    "nl": "het een van en dat niet zijn voor met op te aan ook de",
    "sv": "och att det som på är för inte av till ett den med",
    "da": "og at det er på af til ikke der med som en har",
    "no": "og det er på av til ikke som med å har ble fra",
    "fi": "ja on ei että se oli mutta kun ovat myös joka hän",
    "pl": "się nie na jest że do to jak przez oraz dla od ale są",
    "cs": "se je na že to jako ale pro také podle jsou by které nebo",
    "hu": "az és hogy nem egy is volt meg de csak már ezt",
    "ro": "și în care pentru este din că nu la cu mai au sunt",
    "tr": "ve bir bu için ile olarak da de olan çok daha gibi",
    "hr": "je da se na su za od koji kao što ali nije koja",
    "id": "yang dan di dengan untuk dari ini itu pada tidak dalam akan",
    "vi": "và của là có cho không được với các người trong những",
}
LANGUAGES_BY_WORD: dict[str, list[str]] = {}
for _language, _words in COMMON_WORDS.items():
    for _word in _words.split():
        LANGUAGES_BY_WORD.setdefault(_word, []).append(_language)
CYRILLIC_LANGUAGES = frozenset(("uk", "ru", "bg", "sr", "mk", "be", "kk"))
ARABIC_LANGUAGES = frozenset(("ar", "fa", "ur", "ckb", "ps"))
OTHER_SCRIPT_LANGUAGES = {"zh", *(name for name, _, _ in SCRIPT_LANGUAGES), *CYRILLIC_LANGUAGES, *ARABIC_LANGUAGES}


def detect_language(text: str, declared_language: str = "") -> str:
    """Return the ISO 639-1 code of a text's language (`zh`, `en`, `de` ...), or an empty string if unknown.

    Args:
        text: The text; its first SAMPLE_CHARS characters are read.
        declared_language: Language that the page declares (`<html lang>`). It decides between languages of one script,
            but does not override the script.

    Returns:
        The code; `zh` is Chinese in simplified or traditional characters.
    """
    sample = text[:SAMPLE_CHARS]
    declared_code = declared_language.strip().lower().replace("_", "-").partition("-")[0][:3]
    non_latin_count = count_letters(NON_LATIN_RE, sample)
    if non_latin_count * 20 <= len(sample) and (declared_code != "zh" or not non_latin_count):
        return language_by_common_words(sample.lower().split(), declared_code) if LATIN_RE.search(sample) else ""
    letters = non_latin_count + count_letters(LATIN_RE, sample)
    for language, script, share in SCRIPT_LANGUAGES:
        if count_letters(script, sample) > share * letters:
            return language_of_script(language, declared_code)
    min_han_share = MIN_DECLARED_HAN_SHARE if declared_code == "zh" else MIN_HAN_SHARE
    if count_letters(HAN_RE, sample) > min_han_share * letters:
        return "zh"
    return language_by_common_words(sample.lower().split(), declared_code)


def count_letters(letters: re.Pattern[str], sample: str) -> int:
    """Count the letters of a sample that a pattern of runs matches."""
    return sum(map(len, letters.findall(sample)))


def language_of_script(language: str, declared_language: str) -> str:
    """Return the language of a script, or the declared language if it uses the same script."""
    for script in (CYRILLIC_LANGUAGES, ARABIC_LANGUAGES):
        if language in script and declared_language in script:
            return declared_language
    return language


def language_by_common_words(words: list[str], declared_language: str) -> str:
    """Return the Latin-script language with the most common words in a text.

    The declared language wins unless another one is clearly more frequent. Related languages share many words. With
    too few common words, returns the declared language; else English for a short text, otherwise an empty string.
    """
    counts: Counter[str] = Counter()
    distinct_words: Counter[str] = Counter()
    for word, count in Counter(word for word in words if word in LANGUAGES_BY_WORD).items():
        for language in LANGUAGES_BY_WORD[word]:
            counts[language] += min(count, MAX_COUNT_PER_WORD)
            distinct_words[language] += 1
    min_distinct = MIN_UNDECLARED_DISTINCT_WORDS if declared_language else MIN_DISTINCT_WORDS
    is_unknown = declared_language not in {"", *COMMON_WORDS, *OTHER_SCRIPT_LANGUAGES}
    min_share = MIN_UNKNOWN_DISTINCT_SHARE if is_unknown else 0.0
    expected = declared_language or "en"
    candidates = [
        name
        for name in counts
        if name == expected or distinct_words[name] >= max(min_distinct, min_share * len(COMMON_WORDS[name].split()))
    ]
    best = max(candidates, key=counts.__getitem__, default="")
    if not best or counts[best] < max(MIN_COMMON_WORDS, len(words) * MIN_COMMON_WORD_SHARE):
        return declared_language or ("en" if len(words) < SHORT_TEXT_WORDS else "")
    return best if counts[best] >= MIN_MARGIN * counts[declared_language] else declared_language
