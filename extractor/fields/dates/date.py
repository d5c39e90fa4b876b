"""The publication date: WD-A4 of Wang Du 2019 (METHODS 1.6) from the URL, else what the page says of itself.

    url      http://news.cnpc.com.cn/system/2016/05/09/001591599.shtml   -> 2016-05-09
    text     the line that a reader sees between title and text
    json-ld  datePublished of the node that is the article
    meta     article:published_time ...
    time     <time> and microdata
    script   the state of its scripts, where it tells its day nowhere else (extractor/fields/dates/script_dates.py)

Dates that a page shows are weighed by their place: those of comments, related news, clocks and copyright lines are
others' dates (extractor/fields/dates/date_places.py).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache

from extractor.fields.dates.date_places import SURE, Shown, is_month_first, machine_days, shown_dates
from extractor.fields.dates.date_text import date_in_url, is_in_slug, plain_digits, stated_date, time_after
from extractor.fields.dates.script_dates import script_day
from extractor.fields.linked_data import linked_article
from extractor.manual import is_manual
from extractor.page.document import Document

END_OF_TIME = "2099-12-31"
METAS = (
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
VAGUE_METAS = ("date", "dc.date", "dcterms.date", "timestamp", "og:time", "time", "dcterms.available")
DATED_METAS = ("publi", "upload", "created", "pubd", "post_date", "post-date")
DATE_NAME = re.compile(r"(?:^|[._:-])date$")
OTHER_METAS = ("modif", "update", "publisher", "id", "expir", "image", "url", "title")
MODIFIED_METAS = (
    "article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "dc.date.modified", "last-modified",
    "lastmod", "dateupdate", "og:modified_time", "article:updated_time", "revised", "utime", "modified_time",
)  # fmt: skip
FULL = len("2016-05-09")
# Of a file, not of a publication: what tools for manuals write there is the day on which they ran.
CREATED_METAS = frozenset(("dcterms.created", "dc.date.created", "datecreated", "dc.created", "creation_date"))
NEAR = 5.5  # cost of a place up to which a date shown there goes before that of a change
MOST = 8.0  # cost of a place from which on a date shown there is another's


@dataclass(frozen=True)
class Published:
    """When an article was published.

    `day` is `YYYY-MM-DD`, `YYYY-MM` or ""; `source` says where it was read: `url`, `json-ld`, `meta`, `time`, `text`,
    `script` or "". `at` is the day with the time of day and the zone as far as the page states them
    (`2024-05-01T10:20+08:00`) or "". `modified` is the day of the last change, or "".
    """

    day: str = ""
    source: str = ""
    at: str = ""
    modified: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A date that a page states in one place: `day`, the `at` that goes with it, and the name of the place.

    `sure` says that the place is the article's own and means its publication, `alone` that hardly anything stands
    beside it.
    """

    day: str
    at: str
    source: str
    sure: bool
    alone: bool = False


@dataclass(frozen=True, slots=True)
class DateEvidence:
    """All that a page says of its day: in its URL, shown to readers (near the article, `far` from it, and as a change),
    and in its fields. `is_in_slug`: the day in its URL stands among words.
    """

    url: str
    shown: Sequence[Claim]
    far: Sequence[Claim]
    updates: Sequence[Claim]
    stated: Sequence[Claim]
    changes: Sequence[str]
    is_in_slug: bool = False


def find_date(document: Document, body: int, latest: str = END_OF_TIME) -> Published:
    """When the article of a page, whose body is the span `body`, was published; nothing after `latest` is believed."""
    evidence, in_manual = gather(document, body, latest), is_manual(document)
    found = ranked(of_manual(evidence) if in_manual else evidence)
    day = "" if in_manual or is_told(evidence) else script_day(document.raw, document.url, latest)
    if day and day.startswith(evidence.url):
        found = [Claim(day, "", "script", False)]
    changes = (*evidence.changes, *(one.day for one in evidence.updates if one.sure or in_manual))
    modified = next((one for one in changes if len(one) == FULL), "")
    if not found:
        return Published(modified=modified)
    day, at = found[0].day, found[0].at
    told = (one.at for one in (*evidence.stated, *evidence.shown) if one.at and one.day == day)
    return Published(day, found[0].source, at or next(told, ""), modified if modified >= day else "")


def gather(document: Document, body: int, latest: str) -> DateEvidence:
    """The evidence of a page, each kind with the best first."""
    month_first = is_month_first(document)
    stated = [one for one in stated_dates(document, month_first) if one.day <= latest]
    changes = [one for one in stated_changes(document, month_first) if one <= latest]
    known = {*(one.day for one in stated), *changes, *machine_days(document.layout)}
    dates = [settled(one, known, latest) for one in shown_dates(document, body, month_first)]
    dates = [one for one in dates if one.stamp.day <= latest]
    shown = [claim_of(one) for one in dates if one.cost < NEAR and not one.updated]
    far = [claim_of(one) for one in dates if NEAR <= one.cost < MOST and not one.updated]
    url = date_in_url(document.url)
    updates = [claim_of(one) for one in dates if one.updated]
    return DateEvidence(url if url <= latest else "", shown, far, updates, stated, changes, is_in_slug(document.url))


def is_told(evidence: DateEvidence) -> bool:
    """The page says its day in its URL, its fields, or right by the article; what else it shows are guesses."""
    return len(evidence.url) == FULL or bool(evidence.stated) or any(one.sure for one in evidence.shown)


def of_manual(evidence: DateEvidence) -> DateEvidence:
    """What is evidence of publication on a page that a tool makes anew for every version of a manual.

    That are its URL, fields that speak of publishing, and a day that stands by its title alone or as that of a release.
    The day of its last change is the one on which it was built, or somebody corrected a word; what else it shows stands
    in its examples.
    """
    changes = {*evidence.changes, *(one.day for one in evidence.updates)}
    shown = [one for one in evidence.shown if one.sure and one.alone and one.day not in changes]
    stated = [one for one in evidence.stated if one.sure and one.day not in changes]
    return DateEvidence(evidence.url, shown, (), (), stated, ())


def settled(shown: Shown, known: Collection[str], latest: str) -> Shown:
    """A shown date whose day and month might change places: they do where the page's other dates say so."""
    stamp = shown.stamp
    if stamp.swapped and stamp.day not in known and (stamp.swapped in known or stamp.day > latest):
        return replace(shown, stamp=replace(stamp, day=stamp.swapped))
    return shown


def claim_of(shown: Shown) -> Claim:
    """A shown date as a claim."""
    at = time_after(shown.text, shown.stamp)
    return Claim(shown.stamp.day, at, shown.source, shown.cost <= SURE, shown.alone)


def ranked(evidence: DateEvidence) -> list[Claim]:
    """All claims, the best first; a month in the URL keeps those that lie in it and stands behind them.

    A day in the URL goes before all but one: that which the page shows and states alike, or states where the URL's own
    stands among words. Titles hold days too, of an event or a version, and a site that moved gave its URLs the day of
    the move. What the page states in JSON-LD or
    a meta goes before what it shows, as many pages show the day of the last change only; but where the two are one day
    apart that is the time zone, and the reader's day is the right one.
    """
    url = evidence.url
    sure = [one for one in evidence.shown if one.sure]
    fields = [one for one in evidence.stated if one.sure]
    if len(url) == FULL:
        is_agreed = bool(sure and fields) and sure[0].day == fields[0].day
        return fields if is_agreed or (fields and evidence.is_in_slug) else [Claim(url, "", "url", True)]
    vague = [one for one in evidence.stated if not one.sure]
    if sure and fields and is_better(sure[0].day, [one.day for one in evidence.stated], evidence.changes):
        fields = []
    changed = [Claim(day, "", "meta", False) for day in evidence.changes]
    sure_updates = [one for one in evidence.updates if one.sure]
    # An article that was changed was published by then: the stated day is that of a later publication.
    before = [one for one in sure_updates[:1] if fields and one.day < fields[0].day]
    best = [*before, *fields, *sure, *vague, *evidence.shown, *sure_updates, *changed, *evidence.far, *evidence.updates]
    return [*(one for one in best if one.day.startswith(url)), Claim(url, "", "url", False)] if url else best


def is_better(shown: str, stated: Sequence[str], changes: Collection[str]) -> bool:
    """The shown day is right where it differs from the stated one: a day apart, stated elsewhere too, or the same with
    day and month in the wrong order (2026-09-03 for 9 March).
    """
    first = stated[0]
    swapped = f"{first[:4]}-{first[8:]}-{first[5:7]}"
    return shown == swapped or (shown not in changes and (is_next_day(shown, first) or shown in stated[1:]))


def is_next_day(one: str, other: str) -> bool:
    """The two days follow each other."""
    try:
        return abs(date.fromisoformat(one) - date.fromisoformat(other)) == timedelta(days=1)
    except ValueError:  # a month
        return False


def stated_dates(document: Document, month_first: bool) -> list[Claim]:
    """What the page says to machines of its publication, most trusted first."""
    linked = linked_article(document.json_ld, document.url)
    names = [name for name in METAS if name not in CREATED_METAS] if is_manual(document) else METAS
    published = claim(linked.published, "json-ld", True, month_first)
    own = [] if linked.elsewhere else [published]
    found = [
        *own,
        *(claim(text, "meta", True, month_first) for text in metas_of(document.metas, names)),
        *([] if own else [published]),
        claim(linked.created, "json-ld", False, month_first),
        *(claim(text, "meta", False, month_first) for text in metas_of(document.metas, VAGUE_METAS)),
        *(claim(text, "meta", False, month_first) for name, text in document.metas.items() if is_dated(name)),
    ]
    return [one for one in found if one is not None]


@lru_cache(maxsize=20_000)
def is_dated(name: str) -> bool:
    """The name of a meta that no table knows speaks of publication, or of a date and nothing else."""
    if DATE_NAME.search(name) is not None:
        return True
    return any(word in name for word in DATED_METAS) and not any(word in name for word in OTHER_METAS)


def claim(text: str, source: str, sure: bool, month_first: bool) -> Claim | None:
    """The date of a value, if it is one."""
    stamp = stated_date(text, month_first) if text else None
    return Claim(stamp.day, time_after(plain_digits(text), stamp), source, sure) if stamp else None


def metas_of(metas: Mapping[str, str], names: Sequence[str]) -> Iterator[str]:
    """What the metas of these names say."""
    return (metas[name] for name in names if name in metas)


def stated_changes(document: Document, month_first: bool) -> list[str]:
    """The days of the last change by JSON-LD and meta."""
    linked = linked_article(document.json_ld, document.url)
    texts = (linked.modified, *metas_of(document.metas, MODIFIED_METAS))
    return [stamp.day for text in texts if text and (stamp := stated_date(text, month_first))]
