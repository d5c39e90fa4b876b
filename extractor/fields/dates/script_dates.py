"""The day of an article that nothing but the scripts of its page tells: their state, as JSON or as assignments.

    <script id="__NEXT_DATA__" type="application/json">{"props": {"article": {"publishedAt": "2016-05-09T08:00Z"}}}
    <script>dataLayer.push({'publish_date': '2016-05-09', ...})</script>
    <script>self.__next_f.push([1, "...{\\"datePublished\\":\\"2016-05-09\\"}..."])</script>

A last resort: scripts name the days of other articles too. It is believed where all that they call a day of publication
is one day, or where what stands around one of the days names the page's own URL.
"""

import re
from collections.abc import Iterator

from extractor.fields.dates.date_text import stated_date
from extractor.page.dom import LINKED_DATA, cuts
from extractor.page.url_steps import steps_of

MAX_DAYS = 200  # values that are looked at
AROUND = 1_500  # bytes before and behind a day in which the page's URL names its article
MIN_STEP = 8  # letters of the last step of a URL that no other page's URL ends in
QUOTE = rb"""(?:\\{0,3}["']|&quot;)"""
# publishedAt, publish_date, datePublished, published_time, firstPublishedAt, publicationDate, pubDate. Begins with
# letters that are always the same: the re module finds those much faster.
NAMED = re.compile(
    rb"pub(?:li(?:shed|sh|cation)_?(?:at|date|time|on|datetime|timestamp)|_?date|(?P<bare>li(?:shed|cation)))"
    + QUOTE
    + rb"?\s{0,4}[:=,]\s{0,4}(?:"
    + QUOTE
    + rb"(?P<text>[^\"'\\&<>]{6,40})|(?P<number>1\d{9}(?:\d{3})?)(?!\d))"
)
BEFORE_BARE = (b"date", b"date_")


def script_day(raw: bytes, url: str, latest: str) -> str:
    """The day on which the scripts of a page in an encoding like ASCII (`raw`) say that its article was published, or
    "" where they do not agree; nothing after `latest`.
    """
    found = [(day, near) for day, near in named_days(raw) if day <= latest]
    own = own_step(url)
    days = {day for day, near in found if own and own in near} or {day for day, _ in found}
    return days.pop() if len(days) == 1 else ""


def named_days(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """The days that scripts call those of a publication, with what stands around them in lower case; not those of
    JSON-LD, which was read as what it is.
    """
    low, left = raw.lower(), MAX_DAYS
    for start, end, _ in cuts(low):
        if not low.startswith(b"<script", start) or LINKED_DATA.search(low, start, low.find(b">", start, end) + 1):
            continue
        for match in NAMED.finditer(low, start, end):
            if match["bare"] and not low.endswith(BEFORE_BARE, 0, match.start()):
                continue
            stamp = stated_date((match["text"] or match["number"]).decode("ascii", "replace"))
            if stamp is not None and len(stamp.day) == len("2016-05-09"):
                yield stamp.day, low[max(start, match.start() - AROUND) : match.end() + AROUND]
            left -= 1
            if left == 0:
                return


def own_step(url: str) -> bytes:
    """The last step of a page's URL as its scripts may name it, b"" where that could be another page's."""
    steps = steps_of(url)
    return steps[-1].encode() if steps and len(steps[-1]) >= MIN_STEP else b""
