"""The challenges of HTTP authentication (RFC 9110, section 11.6.1), and the answer to that of Digest. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_PART = re.compile(
    r'(?P<name>[A-Za-z][\w-]*)\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^\s,"]*))'
    r"|(?P<scheme>[A-Za-z][\w-]*)(?:\s+(?P<token>[A-Za-z0-9+/]+=*)(?=\s*(?:,|$)))?"
)


class Challenge(NamedTuple):
    """A way to authenticate that a server offers. `scheme` is in lower case; `token` is that of NTLM."""

    scheme: str
    parameters: Mapping[str, str]
    token: str = ""


def parse_challenges(header: str) -> Sequence[Challenge]:
    """Parse the values of WWW-Authenticate, joined by commas. Accepts any text."""
    challenges: list[tuple[str, dict[str, str], str]] = []
    for part in _PART.finditer(header):
        if part["scheme"]:
            challenges.append((part["scheme"].lower(), {}, part["token"] or ""))
        elif challenges:
            value = re.sub(r"\\(.)", r"\1", part["quoted"]) if part["quoted"] is not None else part["plain"]
            challenges[-1][1].setdefault(part["name"].lower(), value)
    return [Challenge(*challenge) for challenge in challenges]


def digest_header(
    challenges: Sequence[Challenge], user: str, secret: str, method: str, url: str, count: int
) -> str | None:
    """Return the Authorization header of a request; None if no challenge of Digest can be answered.

    `count` is the number of requests with the nonce of the challenge, this one included.
    """
    from requests.auth import HTTPDigestAuth  # late, because few sites need it

    for scheme, parameters, _ in challenges:
        if scheme == "digest" and {"realm", "nonce"} <= parameters.keys():
            auth: Any = HTTPDigestAuth(user, secret)
            auth.init_per_thread_state()
            state = auth._thread_local
            state.chal, state.last_nonce, state.nonce_count = parameters, parameters["nonce"], count - 1
            if header := auth.build_digest_header(method, url):
                return str(header)
    return None
