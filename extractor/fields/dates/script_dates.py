"""The day of an article that nothing but the scripts of its page tells: their state, as JSON or as assignments.

    <script id="__NEXT_DATA__" type="application/json">{"props": {"article": {"publishedAt": "2016-05-09T08:00Z"}}}
    <script>dataLayer.push({'publish_date': '2016-05-09', ...})</script>
    <script>self.__next_f.push([1, "...{\\"datePublished\\":\\"2016-05-09\\"}..."])</script>

A last resort: scripts name the days of other articles too. It is believed where all that they call a day of publication
is one day, or where what stands around one of the days names the page's own URL.
"""

import re
from collections.abc import Iterator

from extractor.fields.dates.date_parsing import parse_machine_date
from extractor.page.dom import JSON_LD_TYPE_RE, iter_strip_ranges
from extractor.page.urls import path_segments

MAX_DATES = 200  # values that are looked at
CONTEXT_BYTES = 1_500  # bytes before and behind a day in which the page's URL names its article
MIN_SEGMENT_CHARS = 8  # letters of the last step of a URL that no other page's URL ends in
QUOTE_PATTERN = rb"""(?:\\{0,3}["']|&quot;)"""
# publishedAt, publish_date, datePublished, published_time, firstPublishedAt, publicationDate, pubDate. Begins with
# letters that are always the same: the re module finds those much faster.
PUBLISHED_FIELD_RE = re.compile(
    rb"pub(?:li(?:shed|sh|cation)_?(?:at|date|time|on|datetime|timestamp)|_?date|(?P<bare>li(?:shed|cation)))"
    + QUOTE_PATTERN
    + rb"?\s{0,4}[:=,]\s{0,4}(?:"
    + QUOTE_PATTERN
    + rb"(?P<text>[^\"'\\&<>]{6,40})|(?P<number>1\d{9}(?:\d{3})?)(?!\d))"
)
DATE_PREFIXES = (b"date", b"date_")


def find_script_date(raw: bytes, url: str, latest_date: str) -> str:
    """The day on which the scripts of a page in an encoding like ASCII (`raw`) say that its article was published, or
    "" where they do not agree; nothing after `latest_date`.
    """
    dated_contexts = [(date, context) for date, context in iter_script_dates(raw) if date <= latest_date]
    url_segment = last_url_segment(url)
    dates = {date for date, context in dated_contexts if url_segment and url_segment in context} or {
        date for date, _ in dated_contexts
    }
    return dates.pop() if len(dates) == 1 else ""


def iter_script_dates(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """The days that scripts call those of a publication, with what stands around them in lower case; not those of
    JSON-LD, which was read as what it is.
    """
    lowercase_html, remaining = raw.lower(), MAX_DATES
    for start, end, _ in iter_strip_ranges(lowercase_html):
        if not lowercase_html.startswith(b"<script", start) or JSON_LD_TYPE_RE.search(
            lowercase_html, start, lowercase_html.find(b">", start, end) + 1
        ):
            continue
        for match in PUBLISHED_FIELD_RE.finditer(lowercase_html, start, end):
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


def last_url_segment(url: str) -> bytes:
    """The last step of a page's URL as its scripts may name it, b"" where that could be another page's."""
    segments = path_segments(url)
    return segments[-1].encode() if segments and len(segments[-1]) >= MIN_SEGMENT_CHARS else b""
