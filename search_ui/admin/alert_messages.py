"""Formats alerts in the languages of the site, for pages, mails and webhooks."""

from collections.abc import Mapping

from domain.alert import Alert
from domain.coded_message import CodedMessage
from search_ui.i18n import has_message, translate_message_to, translate_to

CODE_VALUE_KINDS: Mapping[str, str] = {
    "stage": "stage",
    "reason": "reason",
}  # values that are codes, by the prefix of their message keys


def alert_message(alert: Alert, language: str) -> str:
    """Return the message of an alert."""
    values = {name: _translate_value(name, value, language) for name, value in alert.message_values.items()}
    key = f"alert.{alert.key.kind}"
    if alert.key.kind == "run_failed":
        key += ("_in" if values.get("stage") else "") + ("" if values.get("error") else "_killed")
    return translate_to(language, key, **values) if has_message(key) else alert.key.kind


def _translate_value(name: str, value: str | int, language: str) -> str | int:
    if isinstance(value, CodedMessage):
        return translate_message_to(language, value)
    key = f"{CODE_VALUE_KINDS.get(name)}.{value}"
    return translate_to(language, key) if name in CODE_VALUE_KINDS and has_message(key) else value
