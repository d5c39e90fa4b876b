"""Formats alerts in the languages of the site, for pages, mails and webhooks."""

from domain.alert import Alert
from search_ui.i18n import message_value, translate_code_to


def alert_message(alert: Alert, language: str) -> str:
    """Return the message of an alert."""
    values = {name: message_value(language, name, value) for name, value in alert.message_values.items()}
    code = alert.key.kind
    if code == "run_failed":
        code += ("_in" if values.get("stage") else "") + ("" if values.get("error") else "_killed")
    return translate_code_to(language, "alert", code, **values)
