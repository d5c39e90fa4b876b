"""Settings of alerts: recipients and channels. Secrets are not settings, see `pipeline/alerts/secrets.py`."""

from dataclasses import dataclass
from typing import ClassVar

from domain.errors import SettingsError
from domain.follow import is_mail_address
from domain.setting import Group, Secrecy, setting

LANGUAGES = ("en", "zh")
SMTP_SECURITY_MODES = ("none", "starttls", "tls")


@dataclass(frozen=True)
class AlertSettings:
    """Section [alerts]: recipients and channels.

    Without `mail_to` and `webhook`, alerts appear only at /admin and /metrics.

    Raises SettingsError for an invalid mail server, mail address or webhook URL.
    """

    GROUP: ClassVar[Group] = "alerts"
    mail_to: tuple[str, ...] = setting((), "mail addresses that receive alerts; empty: no mail")
    mail_from: str = setting("", "sender address of the mails; empty: the first address of mail_to")
    smtp: str = setting("localhost:25", "mail server, as host:port", is_file_only=True)
    smtp_security: str = setting(
        "none", "encryption of the connection to the mail server: none, starttls or tls", names=SMTP_SECURITY_MODES
    )
    smtp_user: str = setting(
        "",
        "user name for the mail server, if required; the password is in the variable "
        "PLUMB_SMTP_PASSWORD or in smtp_password_file",
    )
    smtp_password_file: str = setting(
        "", "file that contains only the password, relative to the TOML file", is_file_only=True
    )
    webhook: str = setting(
        "",
        "URL that receives alerts as a JSON POST request, {text, vertical, alerts}; if the URL is "
        "secret, set it in the variable PLUMB_ALERTS_WEBHOOK instead",
        secrecy=Secrecy.ALL,
    )
    inside_hosts: tuple[str, ...] = setting(
        (), "hosts on a private network that the webhook may use: host[:port]", is_file_only=True
    )
    readers: bool = setting(
        True,
        "readers can follow a search by mail; needs search.base_url, and mail_from or mail_to as sender",
    )
    language: str = setting("en", "language of mails and webhook messages: en or zh", names=LANGUAGES)
    silent_days: int = setting(7, "alert when a site has had no new page for this many days; 0: never", minimum=0)
    rising_terms: bool = setting(False, "alert when terms suddenly occur in many more documents")
    seconds: float = setting(30.0, "timeout in seconds for one mail or webhook request", maximum=3600)

    def __post_init__(self) -> None:
        host, _, port = self.smtp.rpartition(":")
        if not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise SettingsError(
                "{path} = {value}: expected host:port, for example localhost:25",
                path="alerts.smtp",
                value=repr(self.smtp),
            )
        for path, addresses in (("alerts.mail_to", self.mail_to), ("alerts.mail_from", filter(None, [self.mail_from]))):
            for address in addresses:
                if not is_mail_address(address):
                    raise SettingsError(
                        "{path}: {value} is not a mail address (expected for example operator@example.org)",
                        path=path,
                        value=repr(address),
                    )
        if self.webhook and not self.webhook.startswith(("http://", "https://")):
            raise SettingsError("{path}: expected an http or https URL", path="alerts.webhook")

    @property
    def sender(self) -> str:
        """The sender address of mails; "" if no mail can be sent."""
        return self.mail_from or next(iter(self.mail_to), "")

    @property
    def has_channels(self) -> bool:
        """True if alerts are sent to anybody."""
        return bool(self.mail_to or self.webhook)
