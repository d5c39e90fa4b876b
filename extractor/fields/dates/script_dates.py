r"""Find the date of publication in the scripts of a page: their state, as JSON or as assignments.

    <script id="__NEXT_DATA__" type="application/json">{"props": {"article": {"publishedAt": "2016-05-09T08:00Z"}}}
    <script>dataLayer.push({'publish_date': '2016-05-09', ...})</script>
    <script>var ct = "1463184000"; var createTime = '2016-05-09 16:00';            (only without the others)
    <script>self.__next_f.push([1, "...{\"datePublished\":\"2016-05-09\"}..."])</script>

The last resort, because scripts also contain the dates of other articles. The date is accepted only if all dates of
publication in the scripts are equal, or if those near the page's own URL are.
"""

import re
from collections.abc import Iterator

from extractor.fields.dates.date_parsing import parse_machine_date
from extractor.page.dom import JSON_LD_TYPE_RE, iter_strip_ranges
from extractor.page.urls import path_segments

MAX_DATES = 200  # values that are parsed
CONTEXT_BYTES = 1_500  # before and after a date; searched for the URL of the page
MIN_SEGMENT_CHARS = 8  # a shorter last segment of a URL may belong to another page as well
QUOTE_PATTERN = rb"""(?:\\{0,3}["']|&quot;)"""
# publishedAt, publish_date, datePublished, published_time, firstPublishedAt, publicationDate, pubDate. The pattern
# begins with fixed letters: the re module finds those much faster.
VALUE_PATTERN = (
    QUOTE_PATTERN
    + rb"?\s{0,4}[:=,]\s{0,4}(?:jsdecode\()?(?:"
    + QUOTE_PATTERN
    + rb"(?P<text>[^\"'\\&<>]{6,40})|(?P<number>1\d{9}(?:\d{3})?)(?!\d))"
)
PUBLISHED_FIELD_RE = re.compile(
    rb"pub(?:li(?:shed|sh|cation)_?(?:at|date|time|on|datetime|timestamp)|_?date|(?P<bare>li(?:shed|cation)))"
    + VALUE_PATTERN
)
# The publication time of pages of public accounts. Comments have such names too.
CREATED_FIELD_RE = re.compile(rb"c(?:reate(?:_?(?:time|date)|d_?at)|t(?<=var ct))(?P<bare>)" + VALUE_PATTERN)
DATE_PREFIXES = (b"date", b"date_")


def find_script_date(raw: bytes, url: str, latest_date: str) -> str:
    """Return the date of publication (`YYYY-MM-DD`) in the scripts of a page, or an empty string if they disagree.

    Args:
        raw: The page in an encoding compatible with ASCII.
        url: The URL of the page.
        latest_date: Later dates are ignored.
    """
    dated_contexts = list[tuple[str, bytes]]()
    for field_re in (PUBLISHED_FIELD_RE, CREATED_FIELD_RE):
        dated_contexts = dated_contexts or [
            (date, context) for date, context in iter_script_dates(raw, field_re) if date <= latest_date
        ]
    segments = path_segments(url)
    url_segment = segments[-1].encode() if segments and len(segments[-1]) >= MIN_SEGMENT_CHARS else b""
    dates = {date for date, context in dated_contexts if url_segment and url_segment in context} or {
        date for date, _ in dated_contexts
    }
    return dates.pop() if len(dates) == 1 else ""


def iter_script_dates(raw: bytes, field_re: re.Pattern[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the dates in scripts that a pattern matches, each with its context in lower case; not those of JSON-LD."""
    lowercase_html, remaining = raw.lower(), MAX_DATES
    for start, end, _ in iter_strip_ranges(lowercase_html):
        if not lowercase_html.startswith(b"<script", start) or JSON_LD_TYPE_RE.search(
            lowercase_html, start, lowercase_html.find(b">", start, end) + 1
        ):
            continue
        for match in field_re.finditer(lowercase_html, start, end):
            if match["bare"] and not lowercase_html.endswith(DATE_PREFIXES, 0, match.start()):
                continue
            date_match = parse_machine_date((match["text"] or match["number"]).decode("ascii", "replace"))
            if date_match is not None and len(date_match.date) == len("2016-05-09"):
                yield (
                    date_match.date,
                    lowercase_html[max(start, match.start() - CONTEXT_BYTES) : match.end() + CONTEXT_BYTES],
                )
            remaining -= 1
            if remaining == 0:
                return
