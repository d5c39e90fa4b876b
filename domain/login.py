"""How to sign in to a site, what a trial of it showed, and who finds its articles. Passwords are never part of this."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from domain.message import Message


class LoginKind(StrEnum):
    """The way to sign in to a site."""

    BASIC = "basic"  # HTTP Basic (RFC 7617)
    DIGEST = "digest"  # HTTP Digest (RFC 7616)
    NTLM = "ntlm"
    BEARER = "bearer"  # a token that does not expire (RFC 6750)
    CLIENT_CREDENTIALS = "client_credentials"  # OAuth 2 (RFC 6749, section 4.4)
    FORM = "form"


class SiteReaders(StrEnum):
    """Who finds the articles of a site."""

    EVERYONE = "everyone"
    SIGNED_IN = "signed-in"  # with any active account


@dataclass(frozen=True)
class Login:
    """How to sign in to a site.

    Attributes:
        user: The user name, or the client id of OAuth 2.
        url: The page with the form, or the token endpoint of OAuth 2.
        fields: Fields of the form as name=value; the value `{user}` or `{password}` stands for the user name or the
            password. Other fields of the form keep the value that the page gives them. Empty: found on the page.
            For OAuth 2: more parameters, such as scope=read.
        signed_in_text: Text that only pages of a signed-in user have, or "".
        signed_out_text: Text of pages that show that the sign-in failed or the session ended, or "".
    """

    kind: LoginKind
    user: str = ""
    url: str = ""
    fields: tuple[str, ...] = ()
    signed_in_text: str = ""
    signed_out_text: str = ""


@dataclass(frozen=True)
class LoginStep:
    """A request of a sign-in: `method`, `url` without query values, and the HTTP `status`; 0 without a response."""

    method: str
    url: str
    status: int


@dataclass(frozen=True)
class LoginTrial:
    """What a sign-in showed.

    Attributes:
        login: The login, with the fields of the form that were found.
        problem: Why it failed; None if it succeeded.
        steps: The requests, in order.
        page_lines: The visible text of the last page, cut.
    """

    login: Login
    problem: Message | None = None
    steps: Sequence[LoginStep] = ()
    page_lines: Sequence[str] = ()
