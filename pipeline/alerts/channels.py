"""Channels that deliver alerts by mail and webhook. Failed deliveries are retried at the next evaluation."""

import json
import smtplib
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from http import HTTPStatus
from typing import Any, Protocol, Self
from urllib.parse import urlsplit

import certifi
from urllib3 import Timeout
from urllib3.exceptions import HTTPError

from crawler.http.connections import ConnectionPool
from crawler.http.ip_policy import PrivateAddressError, PublicOnlyPolicy
from domain.alert import Alert
from domain.errors import PlumblineError
from pipeline.alerts.message import AlertNotification, message_lines, message_subject
from pipeline.alerts.secrets import alert_secrets, read_smtp_password
from pipeline.logs import register_secrets
from pipeline.settings import Settings
from search_ui.i18n import alert_message

MAX_REASON_LENGTH = 200  # characters of a server's error message


class DeliveryError(PlumblineError):
    """A channel failed to deliver. The message contains the reason and no secret."""


class RecipientError(DeliveryError):
    """The mail server does not take mails for a recipient now; others are not concerned."""


class RejectedRecipientError(RecipientError):
    """The mail server rejects a recipient for good."""


class Channel(Protocol):
    """A way to notify the administrator."""

    @property
    def name(self) -> str:
        """Name under which the store records the delivered alerts."""

    def send(self, notification: AlertNotification) -> None:
        """Deliver a notification. Raises DeliveryError."""


def configured_channels(settings: Settings) -> list[Channel]:
    """Create the channels that the settings enable."""
    register_secrets(*alert_secrets(settings.alerts))  # they can be newer than those of the start
    channels: list[Channel] = []
    if settings.alerts.mail_to:
        channels.append(MailChannel(settings))
    if settings.alerts.webhook:
        channels.append(WebhookChannel(settings))
    return channels


class MailSender:
    """Sends mails through the mail server of the settings; a context manager that keeps the connection.

    Every mail is sent within `alerts.seconds`, or fails.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings.alerts
        self._password = (
            read_smtp_password(settings.folder, settings.alerts.smtp_password_file) if self._settings.smtp_user else ""
        )
        self._server: smtplib.SMTP | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._disconnect()

    def send(self, message: EmailMessage) -> None:
        """Send one mail.

        Raises RecipientError if the mail server rejects its only recipient, another DeliveryError for other failures.
        """
        settings = self._settings
        try:
            run_with_timeout(settings.seconds, lambda: self._send(message))
        except TimeoutError as error:
            self._server = None  # the thread that waits for it still uses it
            seconds = f"{settings.seconds:g}"
            raise DeliveryError(
                "the mail server {server} did not respond within {seconds} s", server=settings.smtp, seconds=seconds
            ) from error
        except (OSError, smtplib.SMTPException, ValueError) as error:
            self._disconnect()
            reason = describe_smtp_error(error)
            if self._password:
                reason = reason.replace(self._password, "***")
            raise delivery_error_class(error)(
                "cannot send mail through {server} ({reason})", server=settings.smtp, reason=reason
            ) from None

    def _send(self, message: EmailMessage) -> None:
        if self._server is not None:
            try:
                self._server.rset()  # a server ends connections after a while
            except (OSError, smtplib.SMTPException):
                self._server = None
        if self._server is None:
            self._server = self._connect()
        self._server.send_message(message)

    def _connect(self) -> smtplib.SMTP:
        settings = self._settings
        host, _, port = settings.smtp.rpartition(":")
        host, seconds, tls_context = (
            host.strip("[]"),
            settings.seconds,
            ssl.create_default_context(cafile=ca_bundle_path()),
        )
        if settings.smtp_security == "tls":
            server: smtplib.SMTP = smtplib.SMTP_SSL(host, int(port), timeout=seconds, context=tls_context)
        else:
            server = smtplib.SMTP(host, int(port), timeout=seconds)
        try:
            if settings.smtp_security == "starttls":
                server.starttls(context=tls_context)
            if settings.smtp_user:
                server.login(settings.smtp_user, self._password)
        except BaseException:
            server.close()
            raise
        return server

    def _disconnect(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            with suppress(OSError, smtplib.SMTPException):
                server.quit()


def create_mail(settings: Settings, recipients: Sequence[str], subject: str, text: str) -> EmailMessage:
    """Create a mail of this program: sender, date, and a request not to answer it automatically."""
    message = EmailMessage()
    message["Subject"] = subject
    message["From"] = settings.alerts.sender
    message["To"] = ", ".join(recipients)
    message["Date"] = formatdate(localtime=True)
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no automatic replies
    message.set_content(text)
    return message


class MailChannel:
    """Sends one mail to all recipients with all new and resolved alerts."""

    name = "mail"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def send(self, notification: AlertNotification) -> None:
        """Send one mail. Raises DeliveryError, or SettingsError if the password file cannot be read."""
        settings, name = self._settings.alerts, self._settings.vertical.name or "Plumbline"
        site_url = self._settings.search.site_url
        footer = ["", f"{site_url}/admin/"] if site_url else []
        text = "\n".join([*message_lines(notification, settings.language), *footer]) + "\n"
        subject = message_subject(notification, name, settings.language)
        message = create_mail(self._settings, settings.mail_to, subject, text)
        message["Message-ID"] = make_msgid(domain="plumbline.invalid")
        with MailSender(self._settings) as sender:
            sender.send(message)


class WebhookChannel:
    """Sends one POST request with all new and resolved alerts as JSON.

    The body is `{"text": ..., "vertical": ..., "alerts": [{"kind", "subject", "state", "text", "values"}]}`. Chat
    services display only `text`.
    """

    name = "webhook"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def send(self, notification: AlertNotification) -> None:
        """Send one POST request. Raises DeliveryError."""
        post_webhook(self._settings, self._settings.alerts.webhook, self._build_body(notification))

    def _build_body(self, notification: AlertNotification) -> Mapping[str, Any]:
        language = self._settings.alerts.language
        name = self._settings.vertical.name or "Plumbline"
        states = [(alert, "firing") for alert in notification.started] + [
            (alert, "resolved") for alert in notification.resolved
        ]
        alerts = [alert_json(alert, state, language) for alert, state in states]
        return {
            "text": f"{name}\n" + "\n".join(message_lines(notification, language)),
            "vertical": name,
            "alerts": alerts,
        }


def post_webhook(settings: Settings, url: str, body: Mapping[str, Any], headers: Mapping[str, str] = {}) -> None:
    """Send a JSON object to a webhook by POST within `alerts.seconds`.

    Raises DeliveryError, also for a host on a private network that the settings do not allow.
    """
    host = urlsplit(url).hostname or ""  # messages contain only the host: the path may be secret
    with closing(ConnectionPool(PublicOnlyPolicy(settings.alerts.inside_hosts), 1)) as connections:
        wire = connections.request_state()
        wire.deadline = wire.clock() + settings.alerts.seconds
        try:
            status = connections.post(
                url,
                json.dumps(body, ensure_ascii=False).encode(),
                {"Content-Type": "application/json", "User-Agent": settings.crawl.user_agent, **headers},
                Timeout(settings.alerts.seconds),
            )
        except PrivateAddressError as error:
            raise private_network_error(host) from error
        except (HTTPError, OSError, ValueError) as error:
            if any(isinstance(cause, PrivateAddressError) for cause in exception_chain(error)):
                raise private_network_error(host) from None
            name = type(error).__name__
            raise DeliveryError("the webhook at {host} cannot be reached ({error})", host=host, error=name) from None
    if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        raise DeliveryError("the webhook at {host} returned status {status}", host=host, status=str(status))


def alert_json(alert: Alert, state: str, language: str) -> dict[str, Any]:
    """Convert an alert to a JSON object; `state` is firing or resolved."""
    fields = {"kind": alert.key.kind, "subject": alert.key.subject, "state": state}
    return fields | {"text": alert_message(alert, language), "values": dict(alert.message_values)}


def private_network_error(host: str) -> DeliveryError:
    """Create the error for a webhook on a private network."""
    return DeliveryError(
        "the webhook host {host} is on a private network. To allow it, add it to alerts.inside_hosts in the settings",
        host=host,
    )


def exception_chain(exc: BaseException | None) -> list[BaseException]:
    """Return an exception and its causes, outermost first."""
    chain: list[BaseException] = []
    while exc is not None and exc not in chain:
        chain.append(exc)
        reason = getattr(exc, "reason", None)
        exc = reason if isinstance(reason, BaseException) else exc.__cause__ or exc.__context__
    return chain


def run_with_timeout(seconds: float, function: Callable[[], None]) -> None:
    """Call `function` in a thread; raises TimeoutError after `seconds`, or the exception of the function.

    The timeout of smtplib does not limit the total time, because it restarts with every byte received.
    """
    errors: list[BaseException] = []

    def target() -> None:
        try:
            function()
        except Exception as error:  # noqa: BLE001 (raised below, in the thread that waits)
            errors.append(error)

    thread = threading.Thread(target=target, name="mail", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise TimeoutError
    if errors:
        raise errors[0]


def delivery_error_class(exc: Exception) -> type[DeliveryError]:
    """Return the class of the error for a mail to one recipient, by the reply of the mail server (RFC 5321, 4.2.1)."""
    if isinstance(exc, smtplib.SMTPRecipientsRefused):
        is_permanent = all(code >= 500 for code, _ in exc.recipients.values())
        return RejectedRecipientError if is_permanent else RecipientError
    if isinstance(exc, smtplib.SMTPDataError) and exc.smtp_code >= 500:
        return RejectedRecipientError
    return DeliveryError


def describe_smtp_error(exc: Exception) -> str:
    """Describe an SMTP or network error in one line."""
    if isinstance(exc, smtplib.SMTPResponseException):
        smtp_error = exc.smtp_error
        text = smtp_error.decode("utf-8", "replace") if isinstance(smtp_error, bytes) else str(smtp_error)
        return f"{exc.smtp_code} {' '.join(text.split())}"[:MAX_REASON_LENGTH]
    if isinstance(exc, smtplib.SMTPRecipientsRefused):
        [(code, smtp_text), *_] = exc.recipients.values()
        return describe_smtp_error(smtplib.SMTPResponseException(code, smtp_text))
    return f"{type(exc).__name__} {' '.join(str(exc).split())}"[:MAX_REASON_LENGTH]


def ca_bundle_path() -> str | None:
    """Return the CA bundle of certifi if the system has none, otherwise None (use the bundle of the system)."""
    verify_paths = ssl.get_default_verify_paths()
    return None if verify_paths.cafile or verify_paths.capath else certifi.where()
