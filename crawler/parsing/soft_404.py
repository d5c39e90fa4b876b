"""Detect "not found" pages with status 200 (soft 404s)."""

import re

_MAX_PAGE_BYTES = 30_000  # error pages are short, articles about errors are not
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
    return any(_NOT_FOUND.search(text) for match in _HEADING.findall(body)[:3] for text in _possible_decodings(match))


def _possible_decodings(heading: bytes) -> tuple[str, ...]:
    heading_text = re.sub(rb"<[^>]*>", b"", heading).strip()
    return heading_text.decode("utf-8", "replace"), heading_text.decode("gb18030", "replace")
