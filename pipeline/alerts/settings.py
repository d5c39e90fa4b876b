"""Settings of alerts: recipients and channels. Secrets are not settings, see `pipeline/alerts/secrets.py`."""

from dataclasses import dataclass, field

from domain.coded_message import CodedMessage
from domain.errors import SettingsError

LANGUAGES = ("en", "zh")
SMTP_SECURITY_MODES = ("none", "starttls", "tls")


@dataclass(frozen=True)
class AlertSettings:
    """Section [alerts]: recipients and channels.

    Without `mail_to` and `webhook`, alerts appear only at /admin and /metrics.

    Raises SettingsError for an invalid mail server, mail address or webhook URL.
    """

    mail_to: tuple[str, ...] = field(
        default=(), metadata={"help": "mail addresses that receive alerts; empty: no mail"}
    )
    mail_from: str = field(
        default="", metadata={"help": "sender address of the mails; empty: the first address of mail_to"}
    )
    smtp: str = field(default="localhost:25", metadata={"help": "mail server, as host:port"})
    smtp_security: str = field(
        default="none",
        metadata={
            "help": "encryption of the connection to the mail server: none, starttls or tls",
            "names": SMTP_SECURITY_MODES,
        },
    )
    smtp_user: str = field(
        default="",
        metadata={
            "help": "user name for the mail server, if required; the password is in the variable "
            "PLUMB_SMTP_PASSWORD or in smtp_password_file"
        },
    )
    smtp_password_file: str = field(
        default="", metadata={"help": "file that contains only the password, relative to the TOML file"}
    )
    webhook: str = field(
        default="",
        metadata={
            "help": "URL that receives alerts as a JSON POST request, {text, vertical, alerts}; if the URL is "
            "secret, set it in the variable PLUMB_ALERTS_WEBHOOK instead"
        },
    )
    inside_hosts: tuple[str, ...] = field(
        default=(),
        metadata={"help": "hosts on a private network that the webhook may use: host[:port]"},
    )
    language: str = field(
        default="en", metadata={"help": "language of mails and webhook messages: en or zh", "names": LANGUAGES}
    )
    silent_days: int = field(
        default=7, metadata={"help": "alert when a site has had no new page for this many days; 0: never", "least": 0}
    )
    rising_terms: bool = field(
        default=False, metadata={"help": "alert when terms suddenly occur in many more documents"}
    )
    seconds: float = field(default=30.0, metadata={"help": "timeout in seconds for one mail or webhook request"})

    def __post_init__(self) -> None:
        host, _, port = self.smtp.rpartition(":")
        if not host or not port.isdecimal() or not 0 < int(port) < 65536:
            text = f"alerts.smtp = {self.smtp!r}: expected host:port, for example localhost:25"
            raise SettingsError(CodedMessage(text, "setting_host_port", path="alerts.smtp", value=repr(self.smtp)))
        for path, addresses in (("alerts.mail_to", self.mail_to), ("alerts.mail_from", filter(None, [self.mail_from]))):
            for address in addresses:
                if "@" not in address or any(character.isspace() or character in ",;<>" for character in address):
                    text = f"{path}: {address!r} is not a mail address (expected for example operator@example.org)"
                    raise SettingsError(CodedMessage(text, "mail_address", path=path, value=repr(address)))
        if self.webhook and not self.webhook.startswith(("http://", "https://")):
            text = "alerts.webhook: expected an http or https URL such as https://chat.example/hook"
            raise SettingsError(CodedMessage(text, "setting_http_url", path="alerts.webhook"))

    @property
    def has_channels(self) -> bool:
        """True if alerts are sent to anybody."""
        return bool(self.mail_to or self.webhook)
