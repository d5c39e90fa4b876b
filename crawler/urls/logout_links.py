"""Links that end a session. They are never followed on a site with a login."""

import re
from urllib.parse import parse_qsl, unquote, urlsplit

_LOGOUT_NAME = re.compile(r"(?:do|user)?[-_]?(?:log|sign)(?:ged|in)?[-_]?(?:out|off)|tuichu|zhuxiao", re.IGNORECASE)
_LOGOUT_TEXT = re.compile(
    r"(?:log|sign)[ -]?(?:out|off)|(?:安全)?(?:退出|登出|注销|註銷)(?:登[录陆]|登錄|账[号户]|系统|系統)?", re.IGNORECASE
)
_BRACKETS = " \t\r\n\u3000[]()【】（）«»<>|·"


def is_logout_url(url: str) -> bool:
    """True if the last segment of the path, or a parameter, is the name of a logout: not for `/how-to-log-out`."""
    parts = urlsplit(url)
    segment = unquote(parts.path).rstrip("/").rpartition("/")[2].partition(";")[0]
    names = (segment.partition(".")[0], *(name for pair in parse_qsl(parts.query, True) for name in pair))
    return any(_LOGOUT_NAME.fullmatch(name) for name in names)


def is_logout_anchor(text: str) -> bool:
    """True if the whole text of a link asks to sign out."""
    return _LOGOUT_TEXT.fullmatch(text.strip(_BRACKETS)) is not None
