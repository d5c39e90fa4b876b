"""Parse the content of `meta http-equiv=refresh` and of the Refresh header."""

import re
from dataclasses import dataclass

_SPACE = "[\t\n\f\r ]"
_REFRESH = re.compile(
    rf"{_SPACE}*+(?:([0-9]++)|(?=\.))[0-9.]*+(?:(?=[;,\t\n\f\r ]){_SPACE}*+[;,]?+{_SPACE}*+(.*))?\Z", re.DOTALL
)
_TARGET = re.compile(rf"(?:url{_SPACE}*={_SPACE}*)?(?:\"([^\"]*)|'([^']*)|(.*))", re.DOTALL | re.IGNORECASE)
_MAX_DELAY_SECONDS = 10**9


@dataclass(frozen=True)
class MetaRefresh:
    """A redirect to `url` (as written) after `delay_seconds`. The URL "" means the page itself."""

    delay_seconds: int
    url: str = ""


def parse_meta_refresh(content: str) -> MetaRefresh | None:
    """Parse a refresh by the HTML standard. Returns None if the text is not a valid refresh."""
    match = _REFRESH.match(content)
    if match is None:
        return None
    delay = int(match[1][:10]) if match[1] else 0
    target = _TARGET.match(match[2] or "")
    url = next((text for text in target.groups() if text is not None), "") if target else ""
    return MetaRefresh(min(delay, _MAX_DELAY_SECONDS), url)
