"""Editions of standards and statutes that a text names. Pure.

GB/T 19492-2020, SY/T 6396—2014, ISO/IEC 27001:2022, 《环境保护法》（2014年修订）
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_STANDARD = re.compile(
    r"(?<![A-Za-z/])(?P<prefix>[A-Z]{2}/[TZ]|GB|GBZ|GBJ|HJ|AQ|CJJ|JGJ|JJ[FG]|WS|DB\d{2}(?:/T)?|T/[A-Z]{2,8}|"
    r"ISO(?:/(?:IEC|TS|TR))?|IEC|EN|IEEE)\s?(?P<number>\d{2,6}(?:\.\d{1,3})?)"
    r"\s?[-–—:：]{1,2}\s?(?P<year>(?:19|20)\d{2})(?!\d)"
)
_STATUTE = re.compile(
    r"(?:^|《)(?P<name>[\u4e00-\u9fff]{2,40}(?:法|条例|规定|办法|细则|规范|规程|标准))》?\s?"
    r"[（(](?P<year>(?:19|20)\d{2})年?[^（）()\d]{0,8}[）)]"
)


class Edition(NamedTuple):
    """An edition as a text names it. Editions of one standard or statute have the same `work`."""

    work: str
    year: int
    name: str


def iter_editions(text: str) -> Iterator[Edition]:
    """Yield the editions that a text names.

    A recommended standard is the same work as the mandatory one with its number: GB/T 1234 and GB 1234.
    """
    for match in _STANDARD.finditer(text):
        prefix = re.sub("/[TZ]$", "", match["prefix"])
        yield Edition(f"{prefix} {match['number']}", int(match["year"]), " ".join(match[0].split()))
    for match in _STATUTE.finditer(text):
        yield Edition(match["name"].removeprefix("中华人民共和国"), int(match["year"]), match[0].removeprefix("《"))
