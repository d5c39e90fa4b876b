"""The publication date: WD-A4 of Wang Du 2019 (METHODS 1.6) from the URL, else what the page says of itself.

    url      http://news.cnpc.com.cn/system/2016/05/09/001591599.shtml   -> 2016-05-09
    text     the line that a reader sees between title and text
    json-ld  datePublished of the node that is the article
    meta     article:published_time ...
    time     <time> and microdata
    script   the state of its scripts, where it tells its day nowhere else (extractor/fields/dates/script_dates.py)

Dates that a page shows are weighed by their place: those of comments, related news, clocks and copyright lines are
others' dates (extractor/fields/dates/visible_dates.py).
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
# Published or changed: nobody knows.
AMBIGUOUS_DATE_META_NAMES = ("date", "dc.date", "dcterms.date", "timestamp", "og:time", "time", "dcterms.available")
PUBLISHED_META_STEMS = ("publi", "upload", "created", "pubd", "post_date", "post-date")
DATE_META_RE = re.compile(r"(?:^|[._:-])date$")
UNRELATED_META_STEMS = ("modif", "update", "publisher", "id", "expir", "image", "url", "title")
MODIFIED_META_NAMES = (
    "article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "dc.date.modified", "last-modified",
    "lastmod", "dateupdate", "og:modified_time", "article:updated_time", "revised", "utime", "modified_time",
)  # fmt: skip
ISO_DATE_LENGTH = len("2016-05-09")
# Of a file, not of a publication: what tools for manuals write there is the day on which they ran.
FILE_CREATED_META_NAMES = frozenset(
    ("dcterms.created", "dc.date.created", "datecreated", "dc.created", "creation_date")
)
MAX_NEAR_COST = 5.5  # cost of a place up to which a date shown there goes before that of a change
MAX_COST = 8.0  # cost of a place from which on a date shown there is another's


@dataclass(frozen=True)
class PublicationDate:
    """When an article was published.

    `date` is `YYYY-MM-DD`, `YYYY-MM` or ""; `source` says where it was read: `url`, `json-ld`, `meta`, `time`, `text`,
    `script` or "". `datetime` is the day with the time of day and the zone as far as the page states them
    (`2024-05-01T10:20+08:00`) or "". `modified` is the day of the last change, or "".
    """

    date: str = ""
    source: str = ""
    datetime: str = ""
    modified: str = ""


@dataclass(frozen=True, slots=True)
class DateCandidate:
    """A date that a page states in one place: `date`, the `datetime` that goes with it, and the name of the place.

    `is_certain` says that the place is the article's own and means its publication, `stands_alone` that hardly anything stands
    beside it.
    """

    date: str
    datetime: str
    source: str
    is_certain: bool
    stands_alone: bool = False


@dataclass(frozen=True, slots=True)
class DateEvidence:
    """All that a page says of its day: in its URL, shown to readers (near the article, `visible_far` from it, and as a change),
    and in its fields. `is_url_date_in_slug`: the day in its URL stands among words.
    """

    url_date: str
    visible: Sequence[DateCandidate]
    visible_far: Sequence[DateCandidate]
    visible_updates: Sequence[DateCandidate]
    declared_candidates: Sequence[DateCandidate]
    modified_dates: Sequence[str]
    is_url_date_in_slug: bool = False


def find_publication_date(page: ParsedPage, body_span: int, latest_date: str = MAX_DATE) -> PublicationDate:
    """When the article of a page, whose body is the span `body_span`, was published; nothing after `latest_date` is believed."""
    evidence, is_documentation = collect_date_evidence(page, body_span, latest_date), is_documentation_page(page)
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
        iso_date, candidates[0].source, published_at or next(datetimes, ""), modified if modified >= iso_date else ""
    )


def collect_date_evidence(page: ParsedPage, body_span: int, latest_date: str) -> DateEvidence:
    """The evidence of a page, each kind with the best first."""
    month_first = is_month_first(page)
    declared_candidates = [
        candidate for candidate in declared_dates(page, month_first) if candidate.date <= latest_date
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
    url = find_date_in_url(page.url)
    updates = [to_candidate(candidate) for candidate in visible_dates if candidate.is_update]
    return DateEvidence(
        url if url <= latest_date else "",
        near_candidates,
        distant_candidates,
        updates,
        declared_candidates,
        modified_dates,
        is_date_in_slug(page.url),
    )


def has_reliable_date(evidence: DateEvidence) -> bool:
    """The page says its day in its URL, its fields, or right by the article; what else it shows are guesses."""
    return (
        len(evidence.url_date) == ISO_DATE_LENGTH
        or bool(evidence.declared_candidates)
        or any(candidate.is_certain for candidate in evidence.visible)
    )


def evidence_for_documentation(evidence: DateEvidence) -> DateEvidence:
    """What is evidence of publication on a page that a tool makes anew for every version of a manual.

    That are its URL, fields that speak of publishing, and a day that stands by its title alone or as that of a release.
    The day of its last change is the one on which it was built, or somebody corrected a word; what else it shows stands
    in its examples.
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
    """A shown date whose day and month might change places: they do where the page's other dates say so."""
    date_match = visible_date.date_match
    if (
        date_match.swapped_date
        and date_match.date not in known_dates
        and (date_match.swapped_date in known_dates or date_match.date > latest_date)
    ):
        return replace(visible_date, date_match=replace(date_match, date=date_match.swapped_date))
    return visible_date


def to_candidate(visible_date: VisibleDate) -> DateCandidate:
    """A shown date as a claim."""
    datetime = datetime_after(visible_date.text, visible_date.date_match)
    return DateCandidate(
        visible_date.date_match.date,
        datetime,
        visible_date.source,
        visible_date.cost <= MAX_CERTAIN_COST,
        visible_date.stands_alone,
    )


def rank_candidates(evidence: DateEvidence) -> list[DateCandidate]:
    """All claims, the best first; a month in the URL keeps those that lie in it and stands behind them.

    A day in the URL goes before all but one: that which the page shows and states alike, or states where the URL's own
    stands among words. Titles hold days too, of an event or a version, and a site that moved gave its URLs the day of
    the move. What the page states in JSON-LD or
    a meta goes before what it shows, as many pages show the day of the last change only; but where the two are one day
    apart that is the time zone, and the reader's day is the right one.
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
    sure_updates = [candidate for candidate in evidence.visible_updates if candidate.is_certain]
    # An article that was changed was published by then: the stated day is that of a later publication.
    earlier_updates = [
        candidate for candidate in sure_updates[:1] if certain_declared and candidate.date < certain_declared[0].date
    ]
    ranked_candidates = [
        *earlier_updates,
        *certain_declared,
        *certain_visible,
        *uncertain_declared,
        *evidence.visible,
        *sure_updates,
        *modified_candidates,
        *evidence.visible_far,
        *evidence.visible_updates,
    ]
    return (
        [
            *(candidate for candidate in ranked_candidates if candidate.date.startswith(url_date)),
            DateCandidate(url_date, "", "url", False),
        ]
        if url_date
        else ranked_candidates
    )


def prefers_visible_date(visible_date: str, declared_iso_dates: Sequence[str], changes: Collection[str]) -> bool:
    """The shown day is right where it differs from the stated one: a day apart, stated elsewhere too, or the same with
    day and month in the wrong order (2026-09-03 for 9 March).
    """
    first = declared_iso_dates[0]
    swapped_date = f"{first[:4]}-{first[8:]}-{first[5:7]}"
    return visible_date == swapped_date or (
        visible_date not in changes
        and (are_adjacent_days(visible_date, first) or visible_date in declared_iso_dates[1:])
    )


def are_adjacent_days(first: str, second: str) -> bool:
    """The two days follow each other."""
    try:
        return abs(date.fromisoformat(first) - date.fromisoformat(second)) == timedelta(days=1)
    except ValueError:  # a month
        return False


def declared_dates(page: ParsedPage, month_first: bool) -> list[DateCandidate]:
    """What the page says to machines of its publication, most trusted first."""
    json_ld_article = find_json_ld_article(page.json_ld, page.url)
    names = (
        [name for name in PUBLISHED_META_NAMES if name not in FILE_CREATED_META_NAMES]
        if is_documentation_page(page)
        else PUBLISHED_META_NAMES
    )
    published = parse_candidate(json_ld_article.published, "json-ld", True, month_first)
    own_node = [] if json_ld_article.is_other_page else [published]
    candidates = [
        *own_node,
        *(parse_candidate(text, "meta", True, month_first) for text in meta_values(page.metas, names)),
        *([] if own_node else [published]),
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
    """The name of a meta that no table knows speaks of publication, or of a date and nothing else."""
    if DATE_META_RE.search(name) is not None:
        return True
    return any(word in name for word in PUBLISHED_META_STEMS) and not any(word in name for word in UNRELATED_META_STEMS)


def parse_candidate(text: str, source: str, is_certain: bool, month_first: bool) -> DateCandidate | None:
    """The date of a value, if it is one."""
    date_match = parse_machine_date(text, month_first) if text else None
    return (
        DateCandidate(date_match.date, datetime_after(normalize_date_text(text), date_match), source, is_certain)
        if date_match
        else None
    )


def meta_values(metas: Mapping[str, str], names: Sequence[str]) -> Iterator[str]:
    """What the metas of these names say."""
    return (metas[name] for name in names if name in metas)


def declared_modified_dates(page: ParsedPage, month_first: bool) -> list[str]:
    """The days of the last change by JSON-LD and meta."""
    json_ld_article = find_json_ld_article(page.json_ld, page.url)
    texts = (json_ld_article.modified, *meta_values(page.metas, MODIFIED_META_NAMES))
    return [stamp.date for text in texts if text and (stamp := parse_machine_date(text, month_first))]
