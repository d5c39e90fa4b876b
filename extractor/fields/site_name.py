"""The site's and the channel's name around a title: `标题_新闻_某网` is 标题, "Title | The Guardian" is Title.

What may be cut is known with falling certainty: tails that many pages of the site share (SiteKnowledge), names that the
page gives its site, and last whatever stands short behind a joint.
"""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from extractor.page.document import Document
from extractor.page.layout import size_of
from extractor.page.markup_hints import plain

LONGEST = 300  # characters of a title that are kept
LONGEST_TAIL = 30.0  # of a tail that is a name, in Chinese characters
SHORTEST = 4.0  # what is left of a title when the site name is cut, in Chinese characters
SHORTEST_LABEL = 3  # letters of a part of a host that is a name
# "-" needs space around it between Latin words: "co-op - The Guardian".
# "_" is a part of names within Latin words: "ngx_http_rewrite_module".
# Two long dashes are none, but before a name that is known: 绿色发展——某地纪实 is one title.
SITE_JOINT = re.compile(
    r"\s*(?:[|｜»][_|｜»]*|(?<![a-zA-Z\d_])_[_|｜»]*|_+(?![a-zA-Z\d_])[|｜»]*)\s*|\s*(?<!—)—(?!—)\s*|\s+[-–·•:：*]+\s+|(?<=[^\x00-\x7f])-+\s*|\s*-+(?=[^\x00-\x7f])|--+"
)
DASHES = "——"
SMALL_WORDS = frozenset(("a", "and", "at", "de", "des", "for", "für", "in", "of", "on", "the", "to", "und", "&", "-"))
NAME_METAS = ("og:site_name", "application-name", "apple-mobile-web-app-title", "publisher", "dc.publisher")
JSON_TEXT = r'\s*:\s*"((?:[^"\\]|\\.){1,500})"'
PUBLISHER = re.compile(r'"publisher"\s*:\s*\{[^{}]{0,300}?"name"' + JSON_TEXT)
# Drawn as nothing, or as an icon of the site's own font.
UNSEEN = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\ufeff\ue000-\uf8ff]")
# "ByteSink (Guava 33.3 API)"; a heading may say in words or signs what kind of thing it is: "Class ByteSink<T>".
EXPLAINED = re.compile(r"(.{1,200}?)\s*[(（][^()（）]{1,200}[)）]")
KIND_BEFORE, KIND_BEHIND = re.compile(r"(?:[^\W\d_]{1,20}\s){0,2}"), re.compile(r"(?:\s?<.*)?", re.S)
INLINE_TAG = re.compile(r"</?(?:i|em|b|strong|sup|sub|span)>", re.I)
NUMERIC = re.compile(r"&#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}));")


def tidy(text: str) -> str:
    """A title as it is read: one line, entities that were escaped twice resolved, nothing unseen, no stray joints."""
    text = text[: 2 * LONGEST]
    if "&" in text:
        text = NUMERIC.sub(char_of, plain(text)).replace("&apos;", "'").replace("&nbsp;", " ")
    if "<" in text:
        text = INLINE_TAG.sub("", text)
    if not text.isascii():
        text = UNSEEN.sub("", text)
    return " ".join(text.split()).strip("|_ ").removesuffix("- -").strip()


def char_of(entity: re.Match[str]) -> str:
    """The character of a numeric entity; the entity itself where there is no such character."""
    code = int(entity[1], 16) if entity[1] else int(entity[2])
    return chr(code) if 0x20 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF else entity[0]


def is_first_part(heading: str, stated: str) -> bool:
    """A heading, however short, is what stands in a <title> before its first joint, or before its last parenthesis.

    >>> is_first_part("IDA*", "IDA* - OI Wiki"), is_first_part("Class Foo<T>", "Foo (Bar 3.2 API)")
    (True, True)
    """
    joint = SITE_JOINT.search(stated)
    if joint is not None and letters_of(heading) and heading == stated[: joint.start()]:
        return True
    explained = EXPLAINED.fullmatch(stated)
    place = heading.find(explained[1]) if explained is not None else -1
    if explained is None or place < 0:
        return False
    behind = heading[place + len(explained[1]) :]
    return KIND_BEFORE.fullmatch(heading[:place]) is not None and KIND_BEHIND.fullmatch(behind) is not None


def letters_of(text: str) -> str:
    """Letters and digits in lower case: what two spellings of a name have in common."""
    return "".join(filter(str.isalnum, text.lower()))


def cut_site_name(title: str, *names: str, suffixes: Sequence[str] = (), host: str = "") -> str:
    """A title without the site and channel names behind it, or the site's name before it.

    What is cut is always shorter than what stays, so `棱镜|很长的标题` stays whole; only what is known to be the site's
    name (one of `names`, one of the site's `suffixes`, or said by its `host`) may be longer.
    """
    known = {letters_of(name) for name in names}
    title = cut_dashes(cut_suffix(tidy(title), suffixes), known, host)
    joints = list(SITE_JOINT.finditer(title))
    for joint in reversed(joints):
        rest, tail = title[: joint.start()], title[joint.end() :]
        if size_of(rest) < SHORTEST or (size_of(tail) >= size_of(rest) and not is_name(tail, known, host)):
            break
        title = rest
    if joints and is_name(title[: joints[0].start()], known):
        title = title[joints[0].end() :] or title
    return title.strip()


def cut_known(title: str, names: Iterable[str], suffixes: Sequence[str] = (), host: str = "") -> str:
    """A title, tidied, without a site name that is known or spelt by the host; other parts behind joints stay."""
    known = {letters_of(name) for name in names}
    title = cut_dashes(cut_suffix(title, suffixes), known, host)
    for joint in SITE_JOINT.finditer(title):
        if is_name(title[joint.end() :], known, host) and size_of(title[: joint.start()]) >= SHORTEST:
            return title[: joint.start()].strip()
    return title


def cut_dashes(title: str, known: set[str], host: str) -> str:
    """A title without the known name that stands behind two long dashes."""
    rest, _, tail = title.rpartition(DASHES)
    return rest.rstrip() if size_of(rest) >= SHORTEST and is_name(tail, known, host) else title


def is_joint(text: str, place: int) -> bool:
    """A joint stands at this place, be it one that titles hold themselves."""
    return SITE_JOINT.match(text, place) is not None or text.startswith(DASHES, place)


def cut_suffix(title: str, suffixes: Sequence[str]) -> str:
    """A title without the longest of the site's learned tails that it ends with."""
    tail = max((suffix for suffix in suffixes if suffix and title.endswith(suffix)), key=len, default="")
    return title[: len(title) - len(tail)].rstrip() or title


def is_name(text: str, known: set[str], host: str = "") -> bool:
    """The text is one of the known names, or the one that the host spells: "BBC News" at bbc.co.uk."""
    letters = letters_of(text)
    return bool(letters) and (letters in known or (bool(host) and is_spelled(text, letters, host)))


def is_spelled(text: str, letters: str, host: str) -> bool:
    """A part of the host is the name's beginning or its initials, or the host holds the whole name."""
    if not letters.isascii() or size_of(text) > LONGEST_TAIL:
        return False
    initials = "".join(word[0] for word in text.lower().split() if word not in SMALL_WORDS)
    if len(letters) >= SHORTEST_LABEL and letters in letters_of(host):
        return True
    labels = [label for label in host.lower().split(".")[:-1] if len(label) >= SHORTEST_LABEL and label != "www"]
    return any(letters.startswith(letters_of(label)) or initials == label for label in labels)


def site_names(document: Document) -> list[str]:
    """What a page calls its site: metas, JSON-LD's publisher."""
    names = [document.metas[key] for key in NAME_METAS if key in document.metas]
    for script in document.json_ld:
        if found := PUBLISHER.search(script):
            names.append(found[1])
            break
    return [tidy(name) for name in names]


def host_of(url: str) -> str:
    """Host of a URL in lower case, "" where there is none."""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def title_tail(stated: str, title: str = "") -> str:
    """What a site can learn from one page: the joint and all that follows `title` in its <title> `stated`.

    Where the title is not known, or <title> does not begin with it, the last joint and what stands behind it. "" where
    there is no joint, or too much behind it for a name.
    """
    stated, title = tidy(stated), tidy(title)
    if title and stated.startswith(title) and is_joint(stated, len(title)):
        tail = stated[len(title) :]
    else:
        joints = list(SITE_JOINT.finditer(stated))
        tail = stated[joints[-1].start() :] if joints else ""
    return tail if size_of(tail) <= LONGEST_TAIL else ""
