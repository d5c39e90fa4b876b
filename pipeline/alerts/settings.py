"""The settings of alerts: whom to tell, and by what. Secrets are no settings: see `pipeline/alerts/secrets.py`."""

from dataclasses import dataclass, field

from docstore.errors import SettingsError

LANGUAGES = ("en", "zh")
SMTP_SECURITY_MODES = ("none", "starttls", "tls")


@dataclass(frozen=True)
class AlertSettings:
    """Who is told of what needs a person. Without `mail_to` and `webhook` alerts are shown at /admin and /metrics."""

    mail_to: tuple[str, ...] = field(
        default=(), metadata={"help": "mail addresses that receive alerts; empty: no mail"}
    )
    mail_from: str = field(default="", metadata={"help": "sender of the mails; empty: the first of mail_to"})
    smtp: str = field(default="localhost:25", metadata={"help": "mail server, as host:port"})
    smtp_security: str = field(
        default="none",
        metadata={
            "help": "encryption of the connection to the mail server: none, starttls, tls",
            "names": SMTP_SECURITY_MODES,
        },
    )
    smtp_user: str = field(
        default="",
        metadata={
            "help": "user name for the mail server, if required; password: variable PLUMB_SMTP_PASSWORD or smtp_password_file"
        },
    )
    smtp_password_file: str = field(
        default="", metadata={"help": "file that holds the password and nothing else, relative to the TOML file"}
    )
    webhook: str = field(
        default="",
        metadata={
            "help": "URL that alerts are posted to as JSON, {text, vertical, alerts}; where the URL is a secret, give "
            "it in the variable PLUMB_ALERTS_WEBHOOK"
        },
    )
    inside_hosts: tuple[str, ...] = field(
        default=(),
        metadata={"help": "hosts on a private network that the webhook may use: host[:port]"},
    )
    language: str = field(
        default="en", metadata={"help": "language of mails and webhooks: en or zh", "names": LANGUAGES}
    )
    silent_days: int = field(
        default=7, metadata={"help": "alert when a site has had no new page for this many days; 0: never"}
    )
    seconds: float = field(default=30.0, metadata={"help": "timeout in seconds for one mail or webhook"})

    def __post_init__(self) -> None:
        host, _, port = self.smtp.rpartition(":")
        if not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise SettingsError(f"alerts.smtp = {self.smtp!r}: expected host:port, for example localhost:25")
        for address in (*self.mail_to, *filter(None, [self.mail_from])):
            if "@" not in address or any(character.isspace() or character in ",;<>" for character in address):
                raise SettingsError(
                    f"alerts: {address!r} is not a mail address (expected for example operator@example.org)"
                )
        if self.webhook and not self.webhook.startswith(("http://", "https://")):
            raise SettingsError("alerts.webhook: expected an http or https URL")
