"""Forms with a password field: find one on a page, fill it in, and recognize it in place of a page. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from lxml import etree, html

from crawler.http.content_type import parse_content_type
from crawler.parsing.links import detect_encoding
from crawler.urls.canonical import UrlForms, parse_url_forms
from crawler.urls.logout_links import is_logout_anchor, is_logout_url
from domain.login import Login
from domain.outcome import Reason

USER, PASSWORD = "{user}", "{password}"
_MAX_PARSED_BYTES = 2_000_000
_MAX_NOTICE_BYTES = 2_000  # of a page that only leads to the login by a script
_PASSWORD_FIELD = re.compile(rb"<input\b[^>]{0,500}\btype\s*=\s*[\"']?password", re.IGNORECASE)
_VISIBLE_TEXT = (
    "//text()[not(ancestor::script or ancestor::style or ancestor::noscript or ancestor::template or ancestor::head)]"
)
_USER_TYPES = ("", "text", "email", "tel")
_BUTTON_TYPES = ("submit", "image", "reset", "file", "button")
_TEXT_TYPES = ("", "text/html", "application/xhtml+xml", "text/plain")


@dataclass(frozen=True)
class LoginForm:
    """A form with one password field. `fields` have the values of the page; `action` is absolute."""

    action: str
    method: str
    fields: tuple[tuple[str, str], ...]
    user_field: str
    password_field: str
    encoding: str

    @property
    def field_settings(self) -> tuple[str, ...]:
        """The fields as in the settings of a site."""
        names = ((self.user_field, USER), (self.password_field, PASSWORD))
        return tuple(f"{name}={value}" for name, value in names if name)

    def is_like(self, other: "LoginForm") -> bool:
        """True if both forms send a password to the same place, or in the same fields."""
        is_same_place = urlsplit(self.action).path == urlsplit(other.action).path
        is_same_user = self.user_field == other.user_field
        return self.password_field == other.password_field and (is_same_place or is_same_user)


@dataclass(frozen=True)
class HtmlPage:
    """A parsed page at `url`."""

    url: str
    root: html.HtmlElement
    encoding: str

    def find_form(self, login: Login | None = None) -> LoginForm | None:
        """Return the first form with exactly one password field, if possible one with the fields of the settings.

        Forms with two are those that choose a password.
        """
        names = set(field_values(login, "", "")) if login else set()
        forms = [form for form in map(self._read_form, self.root.iter("form")) if form is not None]
        return max(forms, key=lambda form: len(names & dict(form.fields).keys()), default=None)

    def _read_form(self, form: html.FormElement) -> LoginForm | None:
        inputs = [(item, str(item.get("type") or "").lower()) for item in form.iter("input") if item.get("name")]
        passwords = [n for n, (_, kind) in enumerate(inputs) if kind == "password"]
        if len(passwords) != 1:
            return None
        [position] = passwords
        texts = [str(item.get("name")) for item, kind in inputs[:position] if kind in _USER_TYPES]
        buttons = [
            (str(item.get("name")), str(item.get("value") or ""))
            for item in form.iter("input", "button")
            if item.get("name") and item.get("type", "submit" if item.tag == "button" else "") == "submit"
        ]
        base = next((str(item.get("href")) for item in self.root.iter("base") if item.get("href")), "")
        base_url = parse_url_forms(base, self.url) if base else self.url
        page_url = base_url.request_url if isinstance(base_url, UrlForms) else self.url
        action = parse_url_forms(str(form.get("action") or self.url), page_url, self.encoding)
        if isinstance(action, Reason):
            return None
        return LoginForm(
            action.request_url,
            str(form.get("method") or "get").lower(),
            (*_iter_values(form), *buttons[:1]),
            texts[-1] if texts else "",
            str(inputs[position][0].get("name")),
            self.encoding,
        )

    @property
    def has_logout_link(self) -> bool:
        """True if a link ends a session: only a page of a signed-in user has one."""
        return any(
            is_logout_anchor("".join(map(str, link.itertext()))) or is_logout_url(str(link.get("href") or ""))
            for link in self.root.iter("a")
        )

    def lines(self) -> Sequence[str]:
        """Return the visible text, one line for each piece."""
        texts = map(str, self.root.xpath(_VISIBLE_TEXT))
        return [line for text in texts if (line := " ".join(text.split()))]

    def shows(self, text: str) -> bool:
        """True if the page has a text, whatever the elements and white space in it."""
        content = "".join("".join(map(str, self.root.itertext())).split())
        return "".join(text.split()) in content


def _iter_values(form: html.FormElement) -> Iterator[tuple[str, str]]:
    """Yield the fields that a browser sends, without buttons; unlike `form_values`, also the empty ones."""
    for item in form.iter("input", "select", "textarea"):
        name, kind = str(item.get("name") or ""), str(item.get("type") or "").lower()
        is_off = kind in ("checkbox", "radio") and item.get("checked") is None
        if not name or item.get("disabled") is not None or is_off or kind in _BUTTON_TYPES:
            continue
        values = item.value if item.tag == "select" and item.multiple else [item.value]
        yield from ((name, str(value or ("on" if kind == "checkbox" else ""))) for value in values)


def parse_html_page(url: str, body: bytes, content_type: str) -> HtmlPage | None:
    """Parse a page; None if it is no HTML or text."""
    if not body.strip() or parse_content_type(content_type).media_type not in _TEXT_TYPES:
        return None
    body = body[:_MAX_PARSED_BYTES]
    encoding = detect_encoding(body, content_type)
    try:
        root = html.document_fromstring(body.decode(encoding, "replace").encode(), html.HTMLParser(encoding="utf-8"))
    except (etree.LxmlError, ValueError):
        return None
    return HtmlPage(url, root, encoding)


def field_values(login: Login, user: str, secret: str) -> dict[str, str]:
    """Return the fields of the settings with their values."""
    values = {name.strip(): value.strip() for name, _, value in (text.partition("=") for text in login.fields)}
    return {name: {USER: user, PASSWORD: secret}.get(value, value) for name, value in values.items()}


def fill_in(form: LoginForm, login: Login, secret: str) -> bytes:
    """Return the body of a request that sends the form. Fields that the settings do not name keep their values."""
    settings = " ".join(login.fields)
    values = {form.user_field: login.user} if form.user_field and USER not in settings else {}
    values |= {} if PASSWORD in settings else {form.password_field: secret}
    values |= field_values(login, login.user, secret)
    pairs = [(name, values.pop(name) if name in values else value) for name, value in form.fields]
    return urlencode([*pairs, *values.items()], encoding=form.encoding, errors="xmlcharrefreplace").encode()


def shows_login(
    url: str, body: bytes, content_type: str, login: Login, form: LoginForm | None, ignores_forms: bool = False
) -> bool:
    """True if a page is shown in place of another one because nobody is signed in.

    Args:
        form: The form of the sign-in, if it is known; another form with a password is part of a page.
        ignores_forms: Only the text of the settings decides.
    """
    has_form = not ignores_forms and _PASSWORD_FIELD.search(body) is not None
    path = urlsplit(login.url).path.encode()
    if not ignores_forms and len(path) > 1 and len(body) <= _MAX_NOTICE_BYTES and path in body:
        return True
    page = parse_html_page(url, body, content_type) if has_form or login.signed_out_text else None
    if page is None:
        return False
    if login.signed_out_text and page.shows(login.signed_out_text):
        return True
    page_form = page.find_form() if has_form else None
    return page_form is not None and (form is None or page_form.is_like(form))
