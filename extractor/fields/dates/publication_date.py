"""Determines the date of publication: WD-A4 of Wang Du 2019 from the URL, else from the page.

    url      http://news.cnpc.com.cn/system/2016/05/09/001591599.shtml   -> 2016-05-09
    text     the visible line between title and text
    json-ld  datePublished of the article's node
    meta     article:published_time ...
    time     <time> and microdata
    script   the state of the page's scripts, if no other reliable date exists (script_dates.py)

Visible dates have a cost by their position: dates of comments, related news, clocks and copyright lines belong to
other content (visible_dates.py).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache

from extractor.fields.dates.date_parsing import (
    datetime_after,
    find_date_in_url,
    is_date_in_slug,
    normalize_date_text,
    parse_machine_date,
)
from extractor.fields.dates.script_dates import find_script_date
from extractor.fields.dates.visible_dates import (
    MAX_CERTAIN_COST,
    VisibleDate,
    find_visible_dates,
    is_month_first,
    time_element_dates,
)
from extractor.fields.json_ld import find_json_ld_article
from extractor.page.parsed_page import ParsedPage
from extractor.page_types.documentation import is_documentation_page

MAX_DATE = "2099-12-31"
PUBLISHED_META_NAMES = (
    "article:published_time", "og:article:published_time", "og:published_time", "datepublished", "pubdate",
    "publishdate", "publish_date", "publish-date", "publication_date", "date.published", "dc.date.issued",
    "dcterms.created", "dc.date.created", "dcterms.issued", "sailthru.date", "parsely-pub-date",
    "published_time_telegram", "weibo:article:create_at", "weibo: article:create_at", "apub:time",
    "og:release_date", "article:published", "article_date_original", "cxenseparse:recs:publishtime",
    "published-date", "publishtime", "datecreated", "originalpublicationdate", "article.published",
    "published_on", "uploaddate", "w-published-date", "article:post_time", "ptime", "publishedtime", "releasedate",
    "video:release_date", "citation_publication_date", "citation_online_date", "prism.publicationdate",
    "bt:pubdate", "dc.created", "creation_date", "pub_date",
)  # fmt: skip
# Date of publication or of the last change; the name does not tell which.
AMBIGUOUS_DATE_META_NAMES = ("date", "dc.date", "dcterms.date", "timestamp", "og:time", "time", "dcterms.available")
PUBLISHED_META_STEMS = ("publi", "upload", "created", "pubd", "post_date", "post-date")
DATE_META_RE = re.compile(r"(?:^|[._:-])date$")
UNRELATED_META_STEMS = ("modif", "update", "publisher", "id", "expir", "image", "url", "title")
MODIFIED_META_NAMES = (
    "article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "dc.date.modified", "last-modified",
    "lastmod", "dateupdate", "og:modified_time", "article:updated_time", "revised", "utime", "modified_time",
)  # fmt: skip
ISO_DATE_LENGTH = len("2016-05-09")
# Creation date of a file: documentation generators write their build date here.
FILE_CREATED_META_NAMES = frozenset(
    ("dcterms.created", "dc.date.created", "datecreated", "dc.created", "creation_date")
)
MAX_NEAR_COST = 5.5  # visible dates below this cost rank before modification dates
MAX_COST = 8.0  # visible dates from this cost belong to other content


@dataclass(frozen=True)
class PublicationDate:
    """Date of publication of an article.

    Attributes:
        date: `YYYY-MM-DD`, `YYYY-MM` or an empty string.
        source: Origin of the date: `url`, `json-ld`, `meta`, `time`, `text`, `script` or an empty string.
        datetime: The date with time of day and UTC offset, if known (`2024-05-01T10:20+08:00`); else an empty string.
        modified: Date of the last change, or an empty string.
        is_last_change: True if `date` is that of a change, far from the title, because the page shows no other date.
    """

    date: str = ""
    source: str = ""
    datetime: str = ""
    modified: str = ""
    is_last_change: bool = False


@dataclass(frozen=True, slots=True)
class DateCandidate:
    """A date of the page that may be the date of publication.

    Attributes:
        date: `YYYY-MM-DD` or `YYYY-MM`.
        datetime: The date with time of day, or an empty string.
        source: See `PublicationDate.source`.
        is_certain: True if the date certainly means the publication of this article.
        stands_alone: True if almost no other text is next to the date.
    """

    date: str
    datetime: str
    source: str
    is_certain: bool
    stands_alone: bool = False


@dataclass(frozen=True, slots=True)
class DateEvidence:
    """All dates of a page, each sequence with the best first.

    Attributes:
        url_date: Date in the URL, or an empty string.
        visible: Visible dates near the article.
        visible_far: Visible dates farther away.
        visible_updates: Visible dates of a change.
        declared_candidates: Dates in JSON-LD and metas.
        modified_dates: Dates of the last change in JSON-LD and metas.
        is_url_date_in_slug: True if the date in the URL is among words.
    """

    url_date: str
    visible: Sequence[DateCandidate]
    visible_far: Sequence[DateCandidate]
    visible_updates: Sequence[DateCandidate]
    declared_candidates: Sequence[DateCandidate]
    modified_dates: Sequence[str]
    is_url_date_in_slug: bool = False


def find_publication_date(page: ParsedPage, body_span: int, latest_date: str = MAX_DATE) -> PublicationDate:
    """Find the date of publication of an article.

    Args:
        page: The page.
        body_span: Index of the span of the article's body.
        latest_date: Later dates are ignored.
    """
    is_documentation = is_documentation_page(page)
    evidence = collect_date_evidence(page, body_span, latest_date, is_documentation)
    candidates = rank_candidates(evidence_for_documentation(evidence) if is_documentation else evidence)
    iso_date = (
        ""
        if is_documentation or has_reliable_date(evidence)
        else find_script_date(page.raw_bytes, page.url, latest_date)
    )
    if iso_date and iso_date.startswith(evidence.url_date):
        candidates = [DateCandidate(iso_date, "", "script", False)]
    modified_dates = (
        *evidence.modified_dates,
        *(candidate.date for candidate in evidence.visible_updates if candidate.is_certain or is_documentation),
    )
    modified = next((candidate for candidate in modified_dates if len(candidate) == ISO_DATE_LENGTH), "")
    if not candidates:
        return PublicationDate(modified=modified)
    iso_date, published_at = candidates[0].date, candidates[0].datetime
    datetimes = (
        candidate.datetime
        for candidate in (*evidence.declared_candidates, *evidence.visible)
        if candidate.datetime and candidate.date == iso_date
    )
    return PublicationDate(
        iso_date,
        candidates[0].source,
        published_at or next(datetimes, ""),
        modified if modified >= iso_date else "",
        candidates[0] in evidence.visible_updates and not candidates[0].is_certain,
    )


def collect_date_evidence(page: ParsedPage, body_span: int, latest_date: str, is_documentation: bool) -> DateEvidence:
    """Collect all dates of a page up to `latest_date`."""
    month_first = is_month_first(page)
    declared_candidates = [
        candidate for candidate in declared_dates(page, month_first, is_documentation) if candidate.date <= latest_date
    ]
    modified_dates = [candidate for candidate in declared_modified_dates(page, month_first) if candidate <= latest_date]
    known_dates = {
        *(candidate.date for candidate in declared_candidates),
        *modified_dates,
        *time_element_dates(page.layout),
    }
    visible_dates = [
        resolve_day_month_order(candidate, known_dates, latest_date)
        for candidate in find_visible_dates(page, body_span, month_first)
    ]
    visible_dates = [candidate for candidate in visible_dates if candidate.date_match.date <= latest_date]
    near_candidates = [
        to_candidate(candidate)
        for candidate in visible_dates
        if candidate.cost < MAX_NEAR_COST and not candidate.is_update
    ]
    distant_candidates = [
        to_candidate(candidate)
        for candidate in visible_dates
        if MAX_NEAR_COST <= candidate.cost < MAX_COST and not candidate.is_update
    ]
    url_date = find_date_in_url(page.url)
    updates = [to_candidate(candidate) for candidate in visible_dates if candidate.is_update]
    return DateEvidence(
        url_date if url_date <= latest_date else "",
        near_candidates,
        distant_candidates,
        updates,
        declared_candidates,
        modified_dates,
        is_date_in_slug(page.url),
    )


def has_reliable_date(evidence: DateEvidence) -> bool:
    """Return whether the page has a full date in its URL, a declared date, or a certain visible date."""
    return (
        len(evidence.url_date) == ISO_DATE_LENGTH
        or bool(evidence.declared_candidates)
        or any(candidate.is_certain for candidate in evidence.visible)
    )


def evidence_for_documentation(evidence: DateEvidence) -> DateEvidence:
    """Reduce the evidence to what is reliable on a page of generated documentation.

    Reliable are the URL, metadata about publishing, and a date that is alone below the title or is a release date.
    Modification dates are build dates or dates of small corrections. Other visible dates are parts of examples.
    """
    modified_dates = {*evidence.modified_dates, *(candidate.date for candidate in evidence.visible_updates)}
    visible = [
        candidate
        for candidate in evidence.visible
        if candidate.is_certain and candidate.stands_alone and candidate.date not in modified_dates
    ]
    declared_candidates = [
        candidate
        for candidate in evidence.declared_candidates
        if candidate.is_certain and candidate.date not in modified_dates
    ]
    return DateEvidence(evidence.url_date, visible, (), (), declared_candidates, ())


def resolve_day_month_order(visible_date: VisibleDate, known_dates: Collection[str], latest_date: str) -> VisibleDate:
    """Swap day and month of an ambiguous visible date if other dates of the page, or `latest_date`, require it."""
    date_match = visible_date.date_match
    if (
        date_match.swapped_date
        and date_match.date not in known_dates
        and (date_match.swapped_date in known_dates or date_match.date > latest_date)
    ):
        return replace(visible_date, date_match=replace(date_match, date=date_match.swapped_date))
    return visible_date


def to_candidate(visible_date: VisibleDate) -> DateCandidate:
    """Convert a visible date to a candidate."""
    datetime = datetime_after(visible_date.text, visible_date.date_match)
    return DateCandidate(
        visible_date.date_match.date,
        datetime,
        visible_date.source,
        visible_date.cost <= MAX_CERTAIN_COST,
        visible_date.stands_alone,
    )


def rank_candidates(evidence: DateEvidence) -> list[DateCandidate]:
    """Return all candidates, the best first. If the URL contains only a month, dates of other months are removed.

    Order:
        1. A full date in the URL. Exceptions: the visible and the declared date are equal, or the URL date is part of a
           slug and a date is declared. Slugs contain dates of events or versions, and the URLs of a moved site may
           contain the date of the move.
        2. Dates in JSON-LD and metas, because many pages show only the date of the last change.
        3. Visible dates by cost. A visible date one day apart from the declared date ranks before it: the difference
           is the time zone, and readers expect the visible date.
    """
    url_date = evidence.url_date
    certain_visible = [candidate for candidate in evidence.visible if candidate.is_certain]
    certain_declared = [candidate for candidate in evidence.declared_candidates if candidate.is_certain]
    if len(url_date) == ISO_DATE_LENGTH:
        is_agreed = bool(certain_visible and certain_declared) and certain_visible[0].date == certain_declared[0].date
        return (
            certain_declared
            if is_agreed or (certain_declared and evidence.is_url_date_in_slug)
            else [DateCandidate(url_date, "", "url", True)]
        )
    uncertain_declared = [candidate for candidate in evidence.declared_candidates if not candidate.is_certain]
    if (
        certain_visible
        and certain_declared
        and prefers_visible_date(
            certain_visible[0].date,
            [candidate.date for candidate in evidence.declared_candidates],
            evidence.modified_dates,
        )
    ):
        certain_declared = []
    modified_candidates = [DateCandidate(iso_date, "", "meta", False) for iso_date in evidence.modified_dates]
    certain_updates = [candidate for candidate in evidence.visible_updates if candidate.is_certain]
    # An article was published before its changes. If the declared date is later, it is that of a later publication.
    earlier_updates = [
        candidate for candidate in certain_updates[:1] if certain_declared and candidate.date < certain_declared[0].date
    ]
    ranked_candidates = [
        *earlier_updates,
        *certain_declared,
        *certain_visible,
        *uncertain_declared,
        *evidence.visible,
        *certain_updates,
        *modified_candidates,
        *evidence.visible_updates,
        *evidence.visible_far,
    ]
    return (
        [
            *(candidate for candidate in ranked_candidates if candidate.date.startswith(url_date)),
            DateCandidate(url_date, "", "url", False),
        ]
        if url_date
        else ranked_candidates
    )


def prefers_visible_date(visible_date: str, declared_iso_dates: Sequence[str], modified_dates: Collection[str]) -> bool:
    """Return whether the visible date is more reliable than the first declared date.

    True if day and month of the declared date are swapped (2026-09-03 for 9 March). Also true if the visible date is
    not a modification date and is one day apart from the first declared date or equal to another declared date.
    """
    declared_date = declared_iso_dates[0]
    swapped_date = f"{declared_date[:4]}-{declared_date[8:]}-{declared_date[5:7]}"
    return visible_date == swapped_date or (
        visible_date not in modified_dates
        and (are_adjacent_days(visible_date, declared_date) or visible_date in declared_iso_dates[1:])
    )


def are_adjacent_days(first: str, second: str) -> bool:
    """Return whether two dates are one day apart; False if one of them is only a month."""
    try:
        return abs(date.fromisoformat(first) - date.fromisoformat(second)) == timedelta(days=1)
    except ValueError:  # a month
        return False


def declared_dates(page: ParsedPage, month_first: bool, is_documentation: bool) -> list[DateCandidate]:
    """Return the dates of publication in JSON-LD and metas, most reliable first."""
    json_ld_article = find_json_ld_article(page.json_ld, page.url, page.head_titles)
    names = (
        [name for name in PUBLISHED_META_NAMES if name not in FILE_CREATED_META_NAMES]
        if is_documentation
        else PUBLISHED_META_NAMES
    )
    json_ld_candidate = parse_candidate(json_ld_article.published, "json-ld", True, month_first)
    own_page_candidates = [] if json_ld_article.is_other_page else [json_ld_candidate]
    candidates = [
        *own_page_candidates,
        *(parse_candidate(text, "meta", True, month_first) for text in meta_values(page.metas, names)),
        *([] if own_page_candidates else [json_ld_candidate]),
        parse_candidate(json_ld_article.created, "json-ld", False, month_first),
        *(
            parse_candidate(text, "meta", False, month_first)
            for text in meta_values(page.metas, AMBIGUOUS_DATE_META_NAMES)
        ),
        *(parse_candidate(text, "meta", False, month_first) for name, text in page.metas.items() if is_date_meta(name)),
    ]
    return [candidate for candidate in candidates if candidate is not None]


@lru_cache(maxsize=20_000)
def is_date_meta(name: str) -> bool:
    """Return whether the name of a meta outside the tables means a date of publication or just a date."""
    if DATE_META_RE.search(name) is not None:
        return True
    return any(word in name for word in PUBLISHED_META_STEMS) and not any(word in name for word in UNRELATED_META_STEMS)


def parse_candidate(text: str, source: str, is_certain: bool, month_first: bool) -> DateCandidate | None:
    """Parse a metadata value; returns None if it contains no date."""
    date_match = parse_machine_date(text, month_first) if text else None
    return (
        DateCandidate(date_match.date, datetime_after(normalize_date_text(text), date_match), source, is_certain)
        if date_match
        else None
    )


def meta_values(metas: Mapping[str, str], names: Sequence[str]) -> Iterator[str]:
    """Return the values of the metas with these names, in the order of the names."""
    return (metas[name] for name in names if name in metas)


def declared_modified_dates(page: ParsedPage, month_first: bool) -> list[str]:
    """Return the dates of the last change in JSON-LD and metas."""
    json_ld_article = find_json_ld_article(page.json_ld, page.url, page.head_titles)
    texts = (json_ld_article.modified, *meta_values(page.metas, MODIFIED_META_NAMES))
    return [date_match.date for text in texts if text and (date_match := parse_machine_date(text, month_first))]
