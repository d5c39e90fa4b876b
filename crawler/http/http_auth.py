"""Headers of HTTP authentication: Basic (RFC 7617), Digest (RFC 7616), and the challenges of servers. Pure."""

import hashlib
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_PART = re.compile(
    r'(?P<name>[A-Za-z][\w-]*)\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^\s,"]*))'
    r"|(?P<scheme>[A-Za-z][\w-]*)(?:\s+(?P<token>[A-Za-z0-9+/]+=*)(?=\s*(?:,|$)))?"
)
_HASHES = {"MD5": "md5", "SHA-256": "sha256", "SHA-512-256": "sha512_256"}


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


def basic_header(user: str, secret: str) -> str:
    """Return the value of the Authorization header."""
    return f"Basic {b64encode(f'{user}:{secret}'.encode()).decode()}"


def find_digest(challenges: Sequence[Challenge]) -> Mapping[str, str] | None:
    """Return the parameters of the first Digest challenge that `digest_header` can answer."""
    for scheme, parameters, _ in challenges:
        algorithm = parameters.get("algorithm", "MD5").upper().removesuffix("-SESS")
        qop = parameters.get("qop", "auth").replace(" ", "").split(",")
        if scheme == "digest" and "nonce" in parameters and algorithm in _HASHES and "auth" in qop:
            return parameters
    return None


def digest_header(
    challenge: Mapping[str, str], user: str, secret: str, method: str, uri: str, count: int, cnonce: str
) -> str:
    """Return the value of the Authorization header.

    Args:
        challenge: From `find_digest`.
        uri: Path and query as in the request line.
        count: Number of requests with this nonce, this one included.
        cnonce: A random text.
    """
    algorithm = challenge.get("algorithm", "MD5").upper()

    def digest(text: str) -> str:
        name = _HASHES[algorithm.removesuffix("-SESS")]
        return hashlib.new(name, text.encode(), usedforsecurity=False).hexdigest()

    realm, nonce, number = challenge.get("realm", ""), challenge["nonce"], f"{count:08x}"
    a1 = digest(f"{user}:{realm}:{secret}")
    if algorithm.endswith("-SESS"):
        a1 = digest(f"{a1}:{nonce}:{cnonce}")
    has_qop = "qop" in challenge
    middle = f"{number}:{cnonce}:auth:" if has_qop else ""
    response = digest(f"{a1}:{nonce}:{middle}{digest(f'{method}:{uri}')}")
    values = {"username": user, "realm": realm, "nonce": nonce, "uri": uri, "response": response}
    values |= {name: challenge[name] for name in ("opaque",) if name in challenge}
    parts = [f'{name}="{_quote(value)}"' for name, value in values.items()]
    parts += [f"algorithm={algorithm}"] if "algorithm" in challenge else []
    parts += ["qop=auth", f"nc={number}", f'cnonce="{cnonce}"'] if has_qop or algorithm.endswith("-SESS") else []
    return f"Digest {', '.join(parts)}"


def _quote(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')
