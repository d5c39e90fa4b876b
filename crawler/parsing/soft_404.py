"""Detect "not found" pages with status 200 (soft 404s)."""

import re

_MAX_PAGE_BYTES = 30_000  # error pages are short, articles about errors are not
_ENCODINGS = ("utf-8", "gb18030")
_HEADING = re.compile(rb"<(?:title|h1)\b[^>]*>(.{1,300}?)</(?:title|h1)", re.IGNORECASE | re.DOTALL)
_NOT_FOUND = re.compile(
    r"^\W*404\b|\b404\W*$|\bpage (?:was )?not found\b|^\W*not found\W*$|\berror 404\b"
    r"|页面不存在|页面未找到|找不到(?:该|此|您)?.{0,6}(?:页|内容|文章)|(?:页面|文章|内容|信息)(?:已被?删除|不存在)",
    re.IGNORECASE,
)


def is_soft_404(body: bytes) -> bool:
    """True if the title or first heading of a short page says that the page does not exist."""
    if len(body) > _MAX_PAGE_BYTES:
        return False
    headings = (re.sub(rb"<[^>]*>", b"", heading).strip() for heading in _HEADING.findall(body)[:3])
    return any(
        _NOT_FOUND.search(heading.decode(encoding, "replace")) for heading in headings for encoding in _ENCODINGS
    )
