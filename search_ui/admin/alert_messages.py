"""Formats alerts in the languages of the site, for pages, mails and webhooks."""

from domain.alert import Alert
from search_ui.i18n import has_message, message_value, translate_to


def alert_message(alert: Alert, language: str) -> str:
    """Return the message of an alert."""
    values = {name: message_value(language, name, value) for name, value in alert.message_values.items()}
    key = f"alert.{alert.key.kind}"
    if alert.key.kind == "run_failed":
        key += ("_in" if values.get("stage") else "") + ("" if values.get("error") else "_killed")
    return translate_to(language, key, **values) if has_message(key) else alert.key.kind
