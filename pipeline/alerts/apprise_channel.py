"""A channel that delivers alerts by Apprise to one of its services: chat, push, SMS and others."""

import hashlib
import logging

from domain.errors import SettingsError
from pipeline.alerts.channels import DeliveryError, run_with_timeout
from pipeline.alerts.message import AlertNotification, message_lines, message_subject
from pipeline.settings import Settings

MAX_SCHEME_CHARS = 12  # of the name of a channel


class AppriseChannel:
    """Sends one message with all new and resolved alerts to one service.

    The URL contains secrets, so names and errors contain only its scheme. Apprise itself sends the request: the rules
    for private networks (`alerts.inside_hosts`) do not apply.
    """

    def __init__(self, settings: Settings, url: str) -> None:
        self._settings = settings
        self._url = url
        self._scheme = url.partition("://")[0].lower()
        digest = hashlib.sha256(url.encode()).hexdigest()[:8]
        self.name = f"apprise-{self._scheme[:MAX_SCHEME_CHARS]}-{digest}"

    def send(self, notification: AlertNotification) -> None:
        """Send one message. Raises DeliveryError, or SettingsError if Apprise is missing or the URL is invalid."""
        try:
            from apprise import Apprise, AppriseAsset, PersistentStoreMode
        except ImportError:
            raise SettingsError(
                "alerts.apprise_urls needs the extra apprise: pip install plumbline-search[apprise]"
            ) from None
        logging.getLogger("apprise").setLevel(logging.CRITICAL)  # its warnings contain URLs
        service = Apprise(asset=AppriseAsset(async_mode=False, storage_mode=PersistentStoreMode.MEMORY))
        if not service.add(self._url):
            raise SettingsError(f"alerts.apprise_urls: Apprise does not understand a URL of {self._scheme}://")
        settings = self._settings.alerts
        title = message_subject(notification, self._settings.vertical.name or "Plumbline", settings.language)
        body = "\n".join(message_lines(notification, settings.language))

        def send() -> None:
            if not service.notify(body=body, title=title):
                raise DeliveryError(f"the service of {self._scheme}:// did not accept the message")

        try:
            run_with_timeout(settings.seconds, send)
        except TimeoutError as error:
            raise DeliveryError(f"the service of {self._scheme}:// timed out after {settings.seconds:g} s") from error
