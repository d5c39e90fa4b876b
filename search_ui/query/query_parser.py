"""Parses the query syntax.

    parse_query('页岩气 "水力压裂" -新闻 site:news.example title:产量 after:2015 before:2017-06')
        -> ParsedQuery of seven parts: WORD, PHRASE, WORD (excluded), SITE, TITLE, AFTER, BEFORE

docs/search/query-syntax.md describes the syntax for readers. Text that does not fit the syntax is parsed as plain
words, so no text is an error. For every text, `parse_query(str(parse_query(text))) == parse_query(text)`.
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

MAX_CONDITIONS = 12  # phrases, exclusions and operators in one query; further ones are parsed as words


class PartKind(StrEnum):
    """The kinds of query parts. The value of an operator is its name in the query."""

    WORD = "word"  # ranking only
    PHRASE = "phrase"  # must occur in title or body; also ranks
    TITLE = "title"  # must occur in the title; also ranks
    SITE = "site"  # the host or a parent domain
    AFTER = "after"  # published on or after the first day of this date
    BEFORE = "before"  # published before the first day of this date


OPERATOR_KINDS = (PartKind.TITLE, PartKind.SITE, PartKind.AFTER, PartKind.BEFORE)
_EXCLUDABLE_KINDS = frozenset({PartKind.WORD, PartKind.PHRASE, PartKind.TITLE, PartKind.SITE})
_RANKING_KINDS = frozenset({PartKind.WORD, PartKind.PHRASE, PartKind.TITLE})


@dataclass(frozen=True)
class QueryPart:
    """One part of a query. `is_excluded`: matching documents are excluded. `str()` returns it as it is typed."""

    kind: PartKind
    text: str
    is_excluded: bool = False

    def __str__(self) -> str:
        operator = f"{self.kind}:" if self.kind in OPERATOR_KINDS else ""
        is_quoted = self.kind is PartKind.PHRASE or (self.kind in OPERATOR_KINDS and " " in self.text)
        return ("-" if self.is_excluded else "") + operator + (f'"{self.text}"' if is_quoted else self.text)

    @property
    def is_condition(self) -> bool:
        """True for all parts but plain words, which only rank: a document has to meet a condition."""
        return self.kind is not PartKind.WORD or self.is_excluded

    @property
    def first_day(self) -> date:
        """The first day of the date of an AFTER or BEFORE part."""
        return first_day(self.text)


@dataclass(frozen=True)
class ParsedQuery:
    """The parts of a query, in the order in which they were typed."""

    parts: tuple[QueryPart, ...] = ()

    def __str__(self) -> str:
        return " ".join(map(str, self.parts))

    @cached_property
    def ranking_text(self) -> str:
        """The text to rank by: words, phrases and title words without syntax. "" if there are none."""
        return " ".join(part.text for part in self.parts if part.kind in _RANKING_KINDS and not part.is_excluded)

    @property
    def word_parts(self) -> tuple[QueryPart, ...]:
        """The plain words. Each part is the text between two spaces."""
        return tuple(part for part in self.parts if not part.is_condition)

    @property
    def conditions(self) -> tuple[QueryPart, ...]:
        """All parts that filter the results. A page shows each as a removable filter."""
        return tuple(part for part in self.parts if part.is_condition)

    def required_texts(self, kind: PartKind) -> tuple[str, ...]:
        """Return the texts of the required parts of a kind, without repetitions."""
        return tuple(dict.fromkeys(part.text for part in self.parts if part.kind is kind and not part.is_excluded))

    @property
    def since(self) -> date | None:
        """The first day of the date range: the latest `after:`."""
        return max((part.first_day for part in self.parts if part.kind is PartKind.AFTER), default=None)

    @property
    def until(self) -> date | None:
        """The first day after the date range: the earliest `before:`."""
        return min((part.first_day for part in self.parts if part.kind is PartKind.BEFORE), default=None)

    def without(self, *parts: QueryPart) -> Self:
        """Return the query without these parts."""
        return replace(self, parts=tuple(part for part in self.parts if part not in parts))

    def with_phrase_split(self, phrase: QueryPart, words: Iterable[str]) -> Self:
        """Return the query with a phrase replaced by `words`."""
        loose = tuple(QueryPart(PartKind.WORD, word) for word in words)
        return replace(self, parts=tuple(chain(*(loose if part == phrase else (part,) for part in self.parts))))

    def with_words_quoted(self) -> Self:
        """Return the query with its words in quotation marks, so that only exact matches are found."""
        parts = (part if part.is_condition else replace(part, kind=PartKind.PHRASE) for part in self.parts)
        return replace(self, parts=tuple(parts))


# The quotation marks of common keyboards. A mark without its counterpart does not quote.
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
    """Parse a query. Never fails: text that is no syntax is parsed as words."""
    parts: list[QueryPart] = []
    condition_count, offset = 0, 0
    while match := _TOKEN_RE.search(text, offset):
        part, offset = _parse_token(match), match.end()
        if part and part.is_condition and condition_count == MAX_CONDITIONS:
            part = None
        elif part is None and match["operator"] and match["bare"] is None:
            offset = match.end("operator")  # a quoted value that the operator does not accept is a phrase
        condition_count += bool(part and part.is_condition)
        parts += [part] if part else _split_words(match.string[match.start() : offset])
    return ParsedQuery(_unexclude_if_nothing_required(tuple(parts)))


def as_plain_words(text: str) -> str:
    """Return the words of `text` without anything that would be parsed as syntax, for a search by title."""
    words = _split_words(text)
    if any(part.is_condition for part in parse_query(" ".join(part.text for part in words)).parts):
        words = _split_words(re.sub(r"[-－−:：]", " ", text))
    return " ".join(part.text for part in words)


def _parse_token(match: re.Match[str]) -> QueryPart | None:
    """Return the part of a token; None if it is no syntax or contains nothing searchable."""
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
    """Return a date in ISO form (`2016年5月` -> `2016-05`); "" if it is not a date."""
    match = _DATE_RE.fullmatch(value)
    if match is None:
        return ""
    iso_date = "-".join(part if len(part) == 4 else f"{int(part):02}" for part in match.groups() if part)
    try:
        first_day(iso_date)
    except ValueError:
        return ""
    return iso_date


_VALUE_PARSERS = {PartKind.SITE: _parse_site, PartKind.AFTER: _parse_date, PartKind.BEFORE: _parse_date}


def first_day(text: str) -> date:
    """Return the first day of a year, month or day (ISO form). Raises ValueError if it does not exist."""
    year, month, day = (*(int(part) for part in text.split("-")), 1, 1)[:3]
    return date(year, month, day)


def _split_words(raw: str) -> list[QueryPart]:
    return [QueryPart(PartKind.WORD, piece) for piece in _PLAIN_WORD_RE.findall(raw)]


def _unexclude_if_nothing_required(parts: tuple[QueryPart, ...]) -> tuple[QueryPart, ...]:
    """Turn a query of excluded words only, such as `-5`, into a search for them."""
    if all(part.is_excluded and part.kind in (PartKind.WORD, PartKind.PHRASE) for part in parts):
        return tuple(replace(part, is_excluded=False) for part in parts)
    return parts
