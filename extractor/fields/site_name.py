"""The site's and the channel's name around a title: `标题_新闻_某网` is 标题, "Title | The Guardian" is Title.

What may be cut is known with falling certainty: tails that many pages of the site share (SiteKnowledge), names that the
page gives its site, and last whatever stands short behind a joint.
"""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from extractor.page.layout import text_size
from extractor.page.parsed_page import ParsedPage
from extractor.page.tag_info import unescape_markup

MAX_TITLE_CHARS = 300  # characters of a title that are kept
MAX_SITE_NAME_SIZE = 30.0  # of a tail that is a name, in Chinese characters
MIN_TITLE_SIZE = 4.0  # what is left of a title when the site name is cut, in Chinese characters
MIN_HOST_LABEL_CHARS = 3  # letters of a part of a host that is a name
# "-" needs space around it between Latin words: "co-op - The Guardian".
# "_" is a part of names within Latin words: "ngx_http_rewrite_module".
# Two long dashes are none, but before a name that is known: 绿色发展——某地纪实 is one title.
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
# Drawn as nothing, or as an icon of the site's own font.
INVISIBLE_CHARS_RE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\ufeff\ue000-\uf8ff]")
# "ByteSink (Guava 33.3 API)"; a heading may say in words or signs what kind of thing it is: "Class ByteSink<T>".
PARENTHESIZED_TITLE_RE = re.compile(r"(.{1,200}?)\s*[(（][^()（）]{1,200}[)）]")
KIND_PREFIX_RE, KIND_SUFFIX_RE = re.compile(r"(?:[^\W\d_]{1,20}\s){0,2}"), re.compile(r"(?:\s?<.*)?", re.S)
INLINE_TAG_RE = re.compile(r"</?(?:i|em|b|strong|sup|sub|span)>", re.I)
NUMERIC_ENTITY_RE = re.compile(r"&#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}));")


def clean_title(text: str) -> str:
    """A title as it is read: one line, entities that were escaped twice resolved, nothing unseen, no stray joints."""
    text = text[: 2 * MAX_TITLE_CHARS]
    if "&" in text:
        text = NUMERIC_ENTITY_RE.sub(entity_char, unescape_markup(text)).replace("&apos;", "'").replace("&nbsp;", " ")
    if "<" in text:
        text = INLINE_TAG_RE.sub("", text)
    if not text.isascii():
        text = INVISIBLE_CHARS_RE.sub("", text)
    return " ".join(text.split()).strip("|_ ").removesuffix("- -").strip()


def entity_char(entity: re.Match[str]) -> str:
    """The character of a numeric entity; the entity itself where there is no such character."""
    code = int(entity[1], 16) if entity[1] else int(entity[2])
    return chr(code) if 0x20 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF else entity[0]


def is_title_before_separator(heading: str, declared_title: str) -> bool:
    """A heading, however short, is what stands in a <title> before its first joint, or before its last parenthesis.

    >>> is_first_part("IDA*", "IDA* - OI Wiki"), is_first_part("Class Foo<T>", "Foo (Bar 3.2 API)")
    (True, True)
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
    """Letters and digits in lower case: what two spellings of a name have in common."""
    return "".join(filter(str.isalnum, text.lower()))


def strip_site_names(title: str, *names: str, suffixes: Sequence[str] = (), host: str = "") -> str:
    """A title without the site and channel names behind it, or the site's name before it.

    What is cut is always shorter than what stays, so `棱镜|很长的标题` stays whole; only what is known to be the site's
    name (one of `names`, one of the site's `suffixes`, or said by its `host`) may be longer.
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
    """A title, tidied, without a site name that is known or spelt by the host; other parts behind joints stay."""
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
    """A title without the known name that stands behind two long dashes."""
    remainder, _, suffix = title.rpartition(DOUBLE_DASH)
    return (
        remainder.rstrip()
        if text_size(remainder) >= MIN_TITLE_SIZE and is_site_name(suffix, known_letters, host)
        else title
    )


def has_separator_at(text: str, position: int) -> bool:
    """A joint stands at this place, be it one that titles hold themselves."""
    return TITLE_SEPARATOR_RE.match(text, position) is not None or text.startswith(DOUBLE_DASH, position)


def strip_learned_suffix(title: str, suffixes: Sequence[str]) -> str:
    """A title without the longest of the site's learned tails that it ends with."""
    longest_suffix = max((suffix for suffix in suffixes if suffix and title.endswith(suffix)), key=len, default="")
    return title[: len(title) - len(longest_suffix)].rstrip() or title


def is_site_name(text: str, known_letters: set[str], host: str = "") -> bool:
    """The text is one of the known names, or the one that the host spells: "BBC News" at bbc.co.uk."""
    letters = normalize_letters(text)
    return bool(letters) and (letters in known_letters or (bool(host) and is_spelled_by_host(text, letters, host)))


def is_spelled_by_host(text: str, letters: str, host: str) -> bool:
    """A part of the host is the name's beginning or its initials, or the host holds the whole name."""
    if not letters.isascii() or text_size(text) > MAX_SITE_NAME_SIZE:
        return False
    initials = "".join(word[0] for word in text.lower().split() if word not in FUNCTION_WORDS)
    if len(letters) >= MIN_HOST_LABEL_CHARS and letters in normalize_letters(host):
        return True
    labels = [label for label in host.lower().split(".")[:-1] if len(label) >= MIN_HOST_LABEL_CHARS and label != "www"]
    return any(letters.startswith(normalize_letters(label)) or initials == label for label in labels)


def declared_site_names(page: ParsedPage) -> list[str]:
    """What a page calls its site: metas, JSON-LD's publisher."""
    names = [page.metas[key] for key in SITE_NAME_META_NAMES if key in page.metas]
    for script in page.json_ld:
        if match := PUBLISHER_NAME_RE.search(script):
            names.append(match[1])
            break
    return [clean_title(name) for name in names]


def host_of(url: str) -> str:
    """Host of a URL in lower case, "" where there is none."""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def title_suffix(declared_title: str, title: str = "") -> str:
    """What a site can learn from one page: the joint and all that follows `title` in its <title> `declared_title`.

    Where the title is not known, or <title> does not begin with it, the last joint and what stands behind it. "" where
    there is no joint, or too much behind it for a name.
    """
    declared_title, title = clean_title(declared_title), clean_title(title)
    if title and declared_title.startswith(title) and has_separator_at(declared_title, len(title)):
        suffix = declared_title[len(title) :]
    else:
        separators = list(TITLE_SEPARATOR_RE.finditer(declared_title))
        suffix = declared_title[separators[-1].start() :] if separators else ""
    return suffix if text_size(suffix) <= MAX_SITE_NAME_SIZE else ""
