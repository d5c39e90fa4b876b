"""What a reader typed, as what is meant by it.

Pure.

    parse('页岩气 "水力压裂" -新闻 site:news.example title:产量 after:2015 before:2017-06')
        -> Query of seven parts: WORD, PHRASE, WORD (excluded), SITE, TITLE, AFTER, BEFORE

docs/search/query-syntax.md is the same for readers. What does not fit the syntax is a plain word as it stands, so no
text is an error; and `parse(str(parse(text))) == parse(text)` for every text.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import Self

from search_ui.query.display_text import has_word

MAX_CONDITIONS = 12  # phrases, exclusions and operators in one query; what follows is read as words


class PartKind(StrEnum):
    """What a part of a query asks for; the value of an operator is the word it is typed with."""

    WORD = "word"  # ranks
    PHRASE = "phrase"  # has to stand in title or body as it is; ranks as well
    TITLE = "title"  # has to stand in the title; ranks as well
    SITE = "site"  # the host, or a domain that it belongs to
    AFTER = "after"  # published on the first day of this date or later
    BEFORE = "before"  # published before the first day of this date


OPERATOR_KINDS = (PartKind.TITLE, PartKind.SITE, PartKind.AFTER, PartKind.BEFORE)
_EXCLUDABLE_KINDS = frozenset({PartKind.WORD, PartKind.PHRASE, PartKind.TITLE, PartKind.SITE})
_RANKING_KINDS = frozenset({PartKind.WORD, PartKind.PHRASE, PartKind.TITLE})


@dataclass(frozen=True)
class QueryPart:
    """One part of a query. `is_excluded`: what matches it is left out. `str` gives what to type for it."""

    kind: PartKind
    text: str
    is_excluded: bool = False

    def __str__(self) -> str:
        operator = f"{self.kind}:" if self.kind in OPERATOR_KINDS else ""
        is_quoted = self.kind is PartKind.PHRASE or (self.kind in OPERATOR_KINDS and " " in self.text)
        return ("-" if self.is_excluded else "") + operator + (f'"{self.text}"' if is_quoted else self.text)

    @property
    def is_condition(self) -> bool:
        """True if documents can fail to meet it: all but the words, which only rank."""
        return self.kind is not PartKind.WORD or self.is_excluded

    @property
    def first_day(self) -> date:
        """The first day of what AFTER or BEFORE names."""
        return _first_day(self.text)


@dataclass(frozen=True)
class ParsedQuery:
    """The parts of a query in the order in which they were typed."""

    parts: tuple[QueryPart, ...] = ()

    def __str__(self) -> str:
        return " ".join(map(str, self.parts))

    @cached_property
    def ranking_text(self) -> str:
        """What documents are ranked by: words, phrases and title words, without any sign. "" if there are none."""
        return " ".join(part.text for part in self.parts if part.kind in _RANKING_KINDS and not part.is_excluded)

    @cached_property
    def unquoted_text(self) -> str:
        """The words that stand outside of quotation marks and operators."""
        return " ".join(part.text for part in self.word_parts)

    @property
    def word_parts(self) -> tuple[QueryPart, ...]:
        """The plain words, one part for what stands between blanks."""
        return tuple(part for part in self.parts if not part.is_condition)

    @property
    def conditions(self) -> tuple[QueryPart, ...]:
        """All that narrows the results; a page shows each as something that can be taken off."""
        return tuple(part for part in self.parts if part.is_condition)

    def required_texts(self, kind: PartKind) -> tuple[str, ...]:
        """The texts of this kind that are asked for, each once."""
        return tuple(dict.fromkeys(part.text for part in self.parts if part.kind is kind and not part.is_excluded))

    @property
    def since(self) -> date | None:
        """The first day asked for: of several `after:` the latest."""
        return max((part.first_day for part in self.parts if part.kind is PartKind.AFTER), default=None)

    @property
    def until(self) -> date | None:
        """The first day too late: of several `before:` the earliest."""
        return min((part.first_day for part in self.parts if part.kind is PartKind.BEFORE), default=None)

    def without(self, *parts: QueryPart) -> Self:
        """The query with these parts taken off."""
        return replace(self, parts=tuple(part for part in self.parts if part not in parts))

    def with_phrase_split(self, phrase: QueryPart, words: Iterable[str]) -> Self:
        """The query with a phrase searched by its parts: `words` instead of it, where it stood."""
        loose = tuple(QueryPart(PartKind.WORD, word) for word in words)
        return replace(self, parts=tuple(chain(*(loose if part == phrase else (part,) for part in self.parts))))

    def with_words_quoted(self) -> Self:
        """The query with its words in quotation marks: nothing but what was typed."""
        parts = (part if part.is_condition else replace(part, kind=PartKind.PHRASE) for part in self.parts)
        return replace(self, parts=tuple(parts))


# The ways in which keyboards quote; an open quotation mark is none.
_QUOTE_MARKS = '"“”「」『』'
_QUOTED_PATTERN = (
    f'["“”](?P<double>[^{_QUOTE_MARKS}]*)["“”]|「(?P<corner>[^{_QUOTE_MARKS}]*)」|『(?P<white>[^{_QUOTE_MARKS}]*)』'
)
_OPERATOR_PATTERN = "(?:title|site|after|before)[:：]"
_TOKEN_RE = re.compile(
    rf"(?P<minus>[-－−](?=[\w{_QUOTE_MARKS}]))?"
    rf"(?P<operator>{_OPERATOR_PATTERN})?"
    rf"(?:{_QUOTED_PATTERN}|(?P<bare>[^\s{_QUOTE_MARKS}]+))",
    re.IGNORECASE,
)
_PLAIN_WORD_RE = re.compile(rf"[^\s{_QUOTE_MARKS}]+")
_LONE_OPERATOR_RE = re.compile(_OPERATOR_PATTERN, re.IGNORECASE)
_SITE_RE = re.compile(r"(?:https?://)?(?P<host>[\w-]+(?:\.[\w-]+)*(?::[0-9]{1,5})?)/?.*", re.IGNORECASE)
_DATE_RE = re.compile(
    r"(?P<year>[12][0-9]{3})(?:[-/.年](?P<month>[0-9]{1,2})(?:[-/.月](?P<day>[0-9]{1,2}))?)?[年月日]?"
)


def parse_query(text: str) -> ParsedQuery:
    """Read a query. Never fails: what is no syntax is words."""
    parts: list[QueryPart] = []
    condition_count, offset = 0, 0
    while match := _TOKEN_RE.search(text, offset):
        part, offset = _parse_token(match), match.end()
        if part and part.is_condition and condition_count == MAX_CONDITIONS:
            part = None
        elif part is None and match["operator"] and match["bare"] is None:
            offset = match.end("operator")  # the quoted value that the operator cannot take is a phrase of its own
        condition_count += bool(part and part.is_condition)
        parts += [part] if part else _split_words(match.string[match.start() : offset])
    return ParsedQuery(_unexclude_if_nothing_required(tuple(parts)))


def as_plain_words(text: str) -> str:
    """The words of `text` so that none of them is syntax, as a title has to be typed to be looked for."""
    words = _split_words(text)
    if any(part.is_condition for part in parse_query(" ".join(part.text for part in words)).parts):
        words = _split_words(re.sub(r"[-－−:：]", " ", text))
    return " ".join(part.text for part in words)


def _parse_token(match: re.Match[str]) -> QueryPart | None:
    """The part that a token is; None if it is no syntax, or nothing that could be looked for."""
    quoted_text = next((match[name] for name in ("double", "corner", "white") if match[name] is not None), None)
    default_kind = PartKind.WORD if quoted_text is None else PartKind.PHRASE
    kind = PartKind(match["operator"][:-1].lower()) if match["operator"] else default_kind
    value = _VALUE_PARSERS.get(kind, _normalize_text)(match["bare"] if quoted_text is None else quoted_text)
    is_excluded = bool(match["minus"])
    if kind is PartKind.WORD and _LONE_OPERATOR_RE.fullmatch(value):
        return None
    return QueryPart(kind, value, is_excluded) if value and (not is_excluded or kind in _EXCLUDABLE_KINDS) else None


def _normalize_text(value: str) -> str:
    return " ".join(value.split()) if has_word(value) else ""


def _parse_site(value: str) -> str:
    match = _SITE_RE.fullmatch(value)
    return match["host"].lower() if match and has_word(match["host"]) else ""


def _parse_date(value: str) -> str:
    """`2016年5月` -> `2016-05`; "" for what is no date."""
    match = _DATE_RE.fullmatch(value)
    if match is None:
        return ""
    iso_date = "-".join(part if len(part) == 4 else f"{int(part):02}" for part in match.groups() if part)
    try:
        _first_day(iso_date)
    except ValueError:
        return ""
    return iso_date


_VALUE_PARSERS = {PartKind.SITE: _parse_site, PartKind.AFTER: _parse_date, PartKind.BEFORE: _parse_date}


def _first_day(text: str) -> date:
    year, month, day = (*(int(part) for part in text.split("-")), 1, 1)[:3]
    return date(year, month, day)


def _split_words(raw: str) -> list[QueryPart]:
    return [QueryPart(PartKind.WORD, piece) for piece in _PLAIN_WORD_RE.findall(raw)]


def _unexclude_if_nothing_required(parts: tuple[QueryPart, ...]) -> tuple[QueryPart, ...]:
    """A query of nothing but excluded words, as `-5`, looks for them."""
    if all(part.is_excluded and part.kind in (PartKind.WORD, PartKind.PHRASE) for part in parts):
        return tuple(replace(part, is_excluded=False) for part in parts)
    return parts
