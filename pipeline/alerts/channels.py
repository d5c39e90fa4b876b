"""How the operator is told: by mail, and by a webhook. What cannot be told in time is told the next time."""

import json
import smtplib
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import urlsplit

import certifi
from urllib3 import Timeout
from urllib3.exceptions import HTTPError

from crawler.http.connections import Connections
from crawler.http.ip_policy import InsideAddressError, PublicAddresses
from docstore.errors import PlumblineError, SettingsError
from docstore.reports.alerts import Alert
from pipeline.alerts.message import News, lines, subject
from pipeline.alerts.secrets import smtp_password
from pipeline.settings import Settings
from search_ui.operator.alert_text import sentence

MAX_REASON = 200  # characters of what a server said


class NotToldError(PlumblineError):
    """A channel could not be used. The text says why, and holds no secret."""


class Channel(Protocol):
    """A way to the operator."""

    @property
    def name(self) -> str:
        """By which the store remembers what was told."""

    def tell(self, told: News) -> None:
        """Tell it. Raises NotToldError."""


def channels(settings: Settings) -> list[Channel]:
    """Those that the settings name."""
    found: list[Channel] = []
    if settings.alerts.mail_to:
        found.append(Mail(settings))
    if settings.alerts.webhook:
        found.append(Webhook(settings))
    return found


class Mail:
    """One mail to all, for all that is new."""

    name = "mail"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def tell(self, told: News) -> None:
        """See `Channel.tell`."""
        wanted = self._settings.alerts
        password = smtp_password(self._settings.folder, wanted.smtp_password_file) if wanted.smtp_user else ""
        try:
            within(wanted.seconds, lambda: self._send(self._message(told), password))
        except TimeoutError as error:
            raise NotToldError(f"mail server {wanted.smtp} timed out after {wanted.seconds:g} s") from error
        except (OSError, smtplib.SMTPException, ValueError) as error:
            raise NotToldError(
                f"cannot send mail through {wanted.smtp}: {without(password, smtp_reason(error))}"
            ) from None

    def _message(self, told: News) -> EmailMessage:
        wanted, name = self._settings.alerts, self._settings.vertical.name or "Plumbline"
        message = EmailMessage()
        message["Subject"] = subject(told, name, wanted.language)
        message["From"] = wanted.mail_from or wanted.mail_to[0]
        message["To"] = ", ".join(wanted.mail_to)
        message["Date"] = formatdate(localtime=True)
        message["Message-ID"] = make_msgid(domain="plumbline.invalid")
        message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no answers by machines
        site = self._settings.search.base_url
        footer = ["", f"{site.rstrip('/')}/admin/"] if site else []
        message.set_content("\n".join([*lines(told, wanted.language), *footer]) + "\n")
        return message

    def _send(self, message: EmailMessage, password: str) -> None:
        wanted = self._settings.alerts
        host, _, port = wanted.smtp.rpartition(":")
        host, seconds, tls = host.strip("[]"), wanted.seconds, ssl.create_default_context(cafile=authorities())
        if wanted.smtp_security == "tls":
            server: smtplib.SMTP = smtplib.SMTP_SSL(host, int(port), timeout=seconds, context=tls)
        else:
            server = smtplib.SMTP(host, int(port), timeout=seconds)
        with server:
            if wanted.smtp_security == "starttls":
                server.starttls(context=tls)
            if wanted.smtp_user:
                server.login(wanted.smtp_user, password)
            server.send_message(message)


class Webhook:
    """One POST of JSON for all that is new: `{"text": ..., "vertical": ..., "alerts": [{"kind", "subject", "state",
    "text", "values"}]}`. The `text` alone is what chats show."""

    name = "webhook"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def tell(self, told: News) -> None:
        """See `Channel.tell`."""
        wanted = self._settings.alerts
        place = urlsplit(wanted.webhook).hostname or ""  # the rest may be a secret
        policy = PublicAddresses(wanted.inside_hosts)
        with closing(Connections(policy, 1)) as connections:
            wire = connections.wire()
            wire.deadline = wire.clock() + wanted.seconds
            try:
                status = connections.post(
                    wanted.webhook,
                    json.dumps(self._body(told), ensure_ascii=False).encode(),
                    {"Content-Type": "application/json", "User-Agent": self._settings.crawl.user_agent},
                    Timeout(wanted.seconds),
                )
            except InsideAddressError as error:
                raise inside(place) from error
            except (HTTPError, OSError, ValueError) as error:
                if any(isinstance(cause, InsideAddressError) for cause in causes(error)):
                    raise inside(place) from None
                raise NotToldError(f"the webhook at {place} cannot be reached ({type(error).__name__})") from None
        if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
            raise NotToldError(f"the webhook at {place} answered {status}")

    def _body(self, told: News) -> Mapping[str, Any]:
        language = self._settings.alerts.language
        name = self._settings.vertical.name or "Plumbline"
        states = [(one, "firing") for one in told.begun] + [(one, "resolved") for one in told.over]
        alerts = [as_json(one, state, language) for one, state in states]
        return {"text": f"{name}\n" + "\n".join(lines(told, language)), "vertical": name, "alerts": alerts}


def as_json(one: Alert, state: str, language: str) -> dict[str, Any]:
    """An alert for a program."""
    named = {"kind": one.key.kind, "subject": one.key.subject, "state": state}
    return named | {"text": sentence(one, language), "values": dict(one.values)}


def inside(place: str) -> NotToldError:
    """The error for a webhook on a private network."""
    return NotToldError(
        f"webhook host {place} has a private or reserved IP address: to allow it, add it to alerts.inside_hosts"
    )


def causes(error: BaseException | None) -> list[BaseException]:
    """An error and what caused it."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        inner = getattr(error, "reason", None)
        error = inner if isinstance(inner, BaseException) else error.__cause__ or error.__context__
    return found


def within(seconds: float, work: Callable[[], None]) -> None:
    """Do `work` in so many seconds, or TimeoutError: smtplib's own time-out begins anew with every byte."""
    failed: list[BaseException] = []

    def do() -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 (raised below, in the thread that waits)
            failed.append(error)

    thread = threading.Thread(target=do, name="mail", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise TimeoutError
    if failed:
        raise failed[0]


def smtp_reason(error: Exception) -> str:
    """What a mail server has against a mail, in a line."""
    if isinstance(error, smtplib.SMTPResponseException):
        said = error.smtp_error
        text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        return f"{error.smtp_code} {' '.join(text.split())}"[:MAX_REASON]
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return "all recipients were rejected"
    return f"{type(error).__name__} {' '.join(str(error).split())}"[:MAX_REASON]


def without(secret: str, text: str) -> str:
    """A text in which a secret is not."""
    return text.replace(secret, "***") if secret else text


def authorities() -> str | None:
    """Whom to trust where the machine has no list of its own."""
    places = ssl.get_default_verify_paths()
    return None if places.cafile or places.capath else certifi.where()


def check(settings: Settings) -> list[Channel]:
    """The channels of the settings. SettingsError where there are none."""
    found = channels(settings)
    if not found:
        raise SettingsError("no alert channel configured: set alerts.mail_to or alerts.webhook")
    return found
