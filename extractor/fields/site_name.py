"""Strips the names of site and channel from a title: `标题_新闻_某网` is 标题, "Title | The Guardian" is Title.

Strips, in order of certainty: suffixes learned from other pages of the site (SiteTemplate); names that the page
declares; any short text after a title separator.
"""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from extractor.page.layout import text_size
from extractor.page.parsed_page import ParsedPage
from extractor.page.tag_info import unescape_markup

MAX_TITLE_CHARS = 300  # longer titles are cut
MAX_SITE_NAME_SIZE = 30.0  # a longer suffix is not a name; in Chinese characters
MIN_TITLE_SIZE = 4.0  # minimum size of a title after stripping, in Chinese characters
MIN_HOST_LABEL_CHARS = 3  # a shorter host label is not a name
# "-" between Latin words is a separator only with spaces: "co-op - The Guardian".
# "_" inside Latin words is part of a name: "ngx_http_rewrite_module".
# A double dash is a separator only before a known name: 绿色发展——某地纪实 is one title.
TITLE_SEPARATOR_RE = re.compile(
    r"\s*(?:[|｜»][_|｜»]*|(?<![a-zA-Z\d_])_[_|｜»]*|_+(?![a-zA-Z\d_])[|｜»]*)\s*|\s*(?<!—)—(?!—)\s*|\s+[-–·•:：*]+\s+|(?<=[^\x00-\x7f])-+\s*|\s*-+(?=[^\x00-\x7f])|--+"
)
DOUBLE_DASH = "——"
FUNCTION_WORDS = frozenset(
    ("a", "and", "at", "de", "des", "for", "für", "in", "of", "on", "the", "to", "und", "&", "-")
)
SITE_NAME_META_NAMES = ("og:site_name", "application-name", "apple-mobile-web-app-title", "publisher", "dc.publisher")
JSON_STRING_PATTERN = r'\s*:\s*"((?:[^"\\]|\\.){1,500})"'
PUBLISHER_NAME_RE = re.compile(r'"publisher"\s*:\s*\{[^{}]{0,300}?"name"' + JSON_STRING_PATTERN)
# Invisible characters, and private-use characters (icons in the site's font).
INVISIBLE_CHARS_RE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\ufeff\ue000-\uf8ff]")
# "ByteSink (Guava 33.3 API)"; the heading may add the kind of thing in words or symbols: "Class ByteSink<T>".
PARENTHESIZED_TITLE_RE = re.compile(r"(.{1,200}?)\s*[(（][^()（）]{1,200}[)）]")
KIND_PREFIX_RE, KIND_SUFFIX_RE = re.compile(r"(?:[^\W\d_]{1,20}\s){0,2}"), re.compile(r"(?:\s?<.*)?", re.S)
INLINE_TAG_RE = re.compile(r"</?(?:i|em|b|strong|sup|sub|span)>", re.I)
NUMERIC_ENTITY_RE = re.compile(r"&#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}));")


def clean_title(text: str) -> str:
    """Clean a title: one line, doubly escaped entities resolved, no invisible characters, no separators at the ends."""
    text = text[: 2 * MAX_TITLE_CHARS]
    if "&" in text:
        text = NUMERIC_ENTITY_RE.sub(entity_char, unescape_markup(text)).replace("&apos;", "'").replace("&nbsp;", " ")
    if "<" in text:
        text = INLINE_TAG_RE.sub("", text)
    if not text.isascii():
        text = INVISIBLE_CHARS_RE.sub("", text)
    return " ".join(text.split()).strip("|_ ").removesuffix("- -").strip()


def entity_char(entity: re.Match[str]) -> str:
    """Return the character of a numeric entity, or the entity itself if there is no such character."""
    code = int(entity[1], 16) if entity[1] else int(entity[2])
    return chr(code) if 0x20 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF else entity[0]


def is_title_before_separator(heading: str, declared_title: str) -> bool:
    """Return whether a heading of any length is the part of <title> before its first separator or its last parenthesis.

    >>> is_title_before_separator("IDA*", "IDA* - OI Wiki")
    True
    >>> is_title_before_separator("Class Foo<T>", "Foo (Bar 3.2 API)")
    True
    """
    separator = TITLE_SEPARATOR_RE.search(declared_title)
    if separator is not None and normalize_letters(heading) and heading == declared_title[: separator.start()]:
        return True
    parenthesis_match = PARENTHESIZED_TITLE_RE.fullmatch(declared_title)
    position = heading.find(parenthesis_match[1]) if parenthesis_match is not None else -1
    if parenthesis_match is None or position < 0:
        return False
    remainder = heading[position + len(parenthesis_match[1]) :]
    return KIND_PREFIX_RE.fullmatch(heading[:position]) is not None and KIND_SUFFIX_RE.fullmatch(remainder) is not None


def normalize_letters(text: str) -> str:
    """Return the letters and digits of a text, case-folded, which are equal in all spellings of a name."""
    return "".join(filter(str.isalnum, text.casefold()))


def strip_site_names(title: str, *names: str, suffixes: Sequence[str] = (), host: str = "") -> str:
    """Strip site and channel names after a title, and the site name before it.

    A stripped part is shorter than the remaining title, so `棱镜|很长的标题` is not changed. Only a known name of the
    site may be longer: one of `names`, one of the learned `suffixes`, or a name that `host` spells.
    """
    known_letters = {normalize_letters(name) for name in names}
    title = strip_after_double_dash(strip_learned_suffix(clean_title(title), suffixes), known_letters, host)
    separators = list(TITLE_SEPARATOR_RE.finditer(title))
    for separator in reversed(separators):
        remainder, suffix = title[: separator.start()], title[separator.end() :]
        if text_size(remainder) < MIN_TITLE_SIZE or (
            text_size(suffix) >= text_size(remainder) and not is_site_name(suffix, known_letters, host)
        ):
            break
        title = remainder
    if separators and is_site_name(title[: separators[0].start()], known_letters):
        title = title[separators[0].end() :] or title
    return title.strip()


def strip_known_site_names(title: str, names: Iterable[str], suffixes: Sequence[str] = (), host: str = "") -> str:
    """Strip a known site name, or one that the host spells, from a cleaned title; other parts after separators stay."""
    known_letters = {normalize_letters(name) for name in names}
    title = strip_after_double_dash(strip_learned_suffix(title, suffixes), known_letters, host)
    for separator in TITLE_SEPARATOR_RE.finditer(title):
        if (
            is_site_name(title[separator.end() :], known_letters, host)
            and text_size(title[: separator.start()]) >= MIN_TITLE_SIZE
        ):
            return title[: separator.start()].strip()
    return title


def strip_after_double_dash(title: str, known_letters: set[str], host: str) -> str:
    """Strip a known name after a double dash from a title."""
    remainder, _, suffix = title.rpartition(DOUBLE_DASH)
    return (
        remainder.rstrip()
        if text_size(remainder) >= MIN_TITLE_SIZE and is_site_name(suffix, known_letters, host)
        else title
    )


def has_separator_at(text: str, position: int) -> bool:
    """Return whether a title separator or a double dash begins at this offset."""
    return TITLE_SEPARATOR_RE.match(text, position) is not None or text.startswith(DOUBLE_DASH, position)


def strip_learned_suffix(title: str, suffixes: Sequence[str]) -> str:
    """Strip the longest learned suffix of the site from a title."""
    longest_suffix = max((suffix for suffix in suffixes if suffix and title.endswith(suffix)), key=len, default="")
    return title[: len(title) - len(longest_suffix)].rstrip() or title


def is_site_name(text: str, known_letters: set[str], host: str = "") -> bool:
    """Return whether a text is a known name, or a name that the host spells: "BBC News" at bbc.co.uk.

    `known_letters` contains the letters of the known names (see `normalize_letters`).
    """
    letters = normalize_letters(text)
    return bool(letters) and (letters in known_letters or (bool(host) and is_spelled_by_host(text, letters, host)))


def is_spelled_by_host(text: str, letters: str, host: str) -> bool:
    """Return whether the host contains a name, or a host label is the beginning or the initials of the name.

    `letters` are the letters of `text` (see `normalize_letters`).
    """
    if not letters.isascii() or text_size(text) > MAX_SITE_NAME_SIZE:
        return False
    initials = "".join(word[0] for word in text.lower().split() if word not in FUNCTION_WORDS)
    if len(letters) >= MIN_HOST_LABEL_CHARS and letters in normalize_letters(host):
        return True
    labels = [label for label in host.lower().split(".")[:-1] if len(label) >= MIN_HOST_LABEL_CHARS and label != "www"]
    return any(letters.startswith(normalize_letters(label)) or initials == label for label in labels)


def declared_site_names(page: ParsedPage) -> list[str]:
    """Return the names of the site that a page declares in metas and in the publisher of its JSON-LD."""
    names = [page.metas[key] for key in SITE_NAME_META_NAMES if key in page.metas]
    for script in page.json_ld:
        if match := PUBLISHER_NAME_RE.search(script):
            names.append(match[1])
            break
    return [clean_title(name) for name in names]


def host_of(url: str) -> str:
    """Return the host of a URL in lower case without "www.", or an empty string."""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def title_suffix(declared_title: str, title: str = "") -> str:
    """Return the suffix of a <title> that the site may use on other pages too: a separator and the text after it.

    Args:
        declared_title: Text of <title>.
        title: The title of the article, if known. If <title> does not begin with it, the last separator is used.

    Returns:
        The suffix; an empty string if there is no separator or the suffix is too long for a name.
    """
    declared_title, title = clean_title(declared_title), clean_title(title)
    if title and declared_title.startswith(title) and has_separator_at(declared_title, len(title)):
        suffix = declared_title[len(title) :]
    else:
        separators = list(TITLE_SEPARATOR_RE.finditer(declared_title))
        suffix = declared_title[separators[-1].start() :] if separators else ""
    return suffix if text_size(suffix) <= MAX_SITE_NAME_SIZE else ""
