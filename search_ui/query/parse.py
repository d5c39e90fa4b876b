"""What a reader typed, as what is meant by it. Pure.

    parse('页岩气 "水力压裂" -新闻 site:news.example title:产量 after:2015 before:2017-06')
        -> Query of seven parts: WORD, PHRASE, WORD (excluded), SITE, TITLE, AFTER, BEFORE

docs/search-syntax.md is the same for readers. What does not fit the syntax is a plain word as it stands, so no text
is an error; and `parse(str(parse(text))) == parse(text)` for every text.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import Self

from search_ui.query.texts import has_word

MAX_CONDITIONS = 12  # phrases, exclusions and operators in one query; what follows is read as words


class PartKind(StrEnum):
    """What a part of a query asks for; the value of an operator is the word it is typed with."""

    WORD = "word"  # ranks
    PHRASE = "phrase"  # has to stand in title or body as it is; ranks as well
    TITLE = "title"  # has to stand in the title; ranks as well
    SITE = "site"  # the host, or a domain that it belongs to
    AFTER = "after"  # published on the first day of this date or later
    BEFORE = "before"  # published before the first day of this date


OPERATORS = (PartKind.TITLE, PartKind.SITE, PartKind.AFTER, PartKind.BEFORE)
_EXCLUDABLE = frozenset({PartKind.WORD, PartKind.PHRASE, PartKind.TITLE, PartKind.SITE})
_RANKING = frozenset({PartKind.WORD, PartKind.PHRASE, PartKind.TITLE})


@dataclass(frozen=True)
class Part:
    """One part of a query. `is_excluded`: what matches it is left out. `str` gives what to type for it."""

    kind: PartKind
    text: str
    is_excluded: bool = False

    def __str__(self) -> str:
        operator = f"{self.kind}:" if self.kind in OPERATORS else ""
        is_quoted = self.kind is PartKind.PHRASE or (self.kind in OPERATORS and " " in self.text)
        return ("-" if self.is_excluded else "") + operator + (f'"{self.text}"' if is_quoted else self.text)

    @property
    def is_condition(self) -> bool:
        """True if documents can fail to meet it: all but the words, which only rank."""
        return self.kind is not PartKind.WORD or self.is_excluded

    @property
    def day(self) -> date:
        """The first day of what AFTER or BEFORE names."""
        return _first_day(self.text)


@dataclass(frozen=True)
class Query:
    """The parts of a query in the order in which they were typed."""

    parts: tuple[Part, ...] = ()

    def __str__(self) -> str:
        return " ".join(map(str, self.parts))

    @cached_property
    def text(self) -> str:
        """What documents are ranked by: words, phrases and title words, without any sign. "" if there are none."""
        return " ".join(part.text for part in self.parts if part.kind in _RANKING and not part.is_excluded)

    @cached_property
    def loose_text(self) -> str:
        """The words that stand outside of quotation marks and operators."""
        return " ".join(part.text for part in self.words)

    @property
    def words(self) -> tuple[Part, ...]:
        """The plain words, one part for what stands between blanks."""
        return tuple(part for part in self.parts if not part.is_condition)

    @property
    def conditions(self) -> tuple[Part, ...]:
        """All that narrows the results; a page shows each as something that can be taken off."""
        return tuple(part for part in self.parts if part.is_condition)

    def wanted(self, kind: PartKind) -> tuple[str, ...]:
        """The texts of this kind that are asked for, each once."""
        return tuple(dict.fromkeys(part.text for part in self.parts if part.kind is kind and not part.is_excluded))

    @property
    def since(self) -> date | None:
        """The first day asked for: of several `after:` the latest."""
        return max((part.day for part in self.parts if part.kind is PartKind.AFTER), default=None)

    @property
    def until(self) -> date | None:
        """The first day too late: of several `before:` the earliest."""
        return min((part.day for part in self.parts if part.kind is PartKind.BEFORE), default=None)

    def without(self, *parts: Part) -> Self:
        """The query with these parts taken off."""
        return replace(self, parts=tuple(part for part in self.parts if part not in parts))

    def loosened(self, phrase: Part, words: Iterable[str]) -> Self:
        """The query with a phrase searched by its parts: `words` instead of it, where it stood."""
        loose = tuple(Part(PartKind.WORD, word) for word in words)
        return replace(self, parts=tuple(chain(*(loose if part == phrase else (part,) for part in self.parts))))

    def quoted(self) -> Self:
        """The query with its words in quotation marks: nothing but what was typed."""
        parts = (part if part.is_condition else replace(part, kind=PartKind.PHRASE) for part in self.parts)
        return replace(self, parts=tuple(parts))


# The ways in which keyboards quote; an open quotation mark is none.
_MARKS = '"“”「」『』'
_QUOTED = f'["“”](?P<double>[^{_MARKS}]*)["“”]|「(?P<corner>[^{_MARKS}]*)」|『(?P<white>[^{_MARKS}]*)』'
_OPERATOR = "(?:title|site|after|before)[:：]"
_TOKEN = re.compile(
    rf"(?P<minus>[-－−](?=[\w{_MARKS}]))?"
    rf"(?P<operator>{_OPERATOR})?"
    rf"(?:{_QUOTED}|(?P<bare>[^\s{_MARKS}]+))",
    re.IGNORECASE,
)
_PIECE = re.compile(rf"[^\s{_MARKS}]+")
_LONE_OPERATOR = re.compile(_OPERATOR, re.IGNORECASE)
_SITE = re.compile(r"(?:https?://)?(?P<host>[\w-]+(?:\.[\w-]+)*(?::[0-9]{1,5})?)/?.*", re.IGNORECASE)
_DATE = re.compile(r"(?P<year>[12][0-9]{3})(?:[-/.年](?P<month>[0-9]{1,2})(?:[-/.月](?P<day>[0-9]{1,2}))?)?[年月日]?")


def parse(text: str) -> Query:
    """Read a query. Never fails: what is no syntax is words."""
    parts: list[Part] = []
    conditions, at = 0, 0
    while found := _TOKEN.search(text, at):
        part, at = _part(found), found.end()
        if part and part.is_condition and conditions == MAX_CONDITIONS:
            part = None
        elif part is None and found["operator"] and found["bare"] is None:
            at = found.end("operator")  # the quoted value that the operator cannot take is a phrase of its own
        conditions += bool(part and part.is_condition)
        parts += [part] if part else _words(found.string[found.start() : at])
    return Query(_with_something_wanted(tuple(parts)))


def as_plain(text: str) -> str:
    """The words of `text` so that none of them is syntax, as a title has to be typed to be looked for."""
    plain = _words(text)
    if any(part.is_condition for part in parse(" ".join(part.text for part in plain)).parts):
        plain = _words(re.sub(r"[-－−:：]", " ", text))
    return " ".join(part.text for part in plain)


def _part(found: re.Match[str]) -> Part | None:
    """The part that a token is; None if it is no syntax, or nothing that could be looked for."""
    quoted = next((found[name] for name in ("double", "corner", "white") if found[name] is not None), None)
    plain = PartKind.WORD if quoted is None else PartKind.PHRASE
    kind = PartKind(found["operator"][:-1].lower()) if found["operator"] else plain
    value = _VALUES.get(kind, _text)(found["bare"] if quoted is None else quoted)
    is_excluded = bool(found["minus"])
    if kind is PartKind.WORD and _LONE_OPERATOR.fullmatch(value):
        return None
    return Part(kind, value, is_excluded) if value and (not is_excluded or kind in _EXCLUDABLE) else None


def _text(value: str) -> str:
    return " ".join(value.split()) if has_word(value) else ""


def _site(value: str) -> str:
    found = _SITE.fullmatch(value)
    return found["host"].lower() if found and has_word(found["host"]) else ""


def _date(value: str) -> str:
    """`2016年5月` -> `2016-05`; "" for what is no date."""
    found = _DATE.fullmatch(value)
    if found is None:
        return ""
    written = "-".join(part if len(part) == 4 else f"{int(part):02}" for part in found.groups() if part)
    try:
        _first_day(written)
    except ValueError:
        return ""
    return written


_VALUES = {PartKind.SITE: _site, PartKind.AFTER: _date, PartKind.BEFORE: _date}


def _first_day(text: str) -> date:
    year, month, day = (*(int(part) for part in text.split("-")), 1, 1)[:3]
    return date(year, month, day)


def _words(raw: str) -> list[Part]:
    return [Part(PartKind.WORD, piece) for piece in _PIECE.findall(raw)]


def _with_something_wanted(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """A query of nothing but excluded words, as `-5`, looks for them."""
    if all(part.is_excluded and part.kind in (PartKind.WORD, PartKind.PHRASE) for part in parts):
        return tuple(replace(part, is_excluded=False) for part in parts)
    return parts
