"""Alerts in words, in any of the site's languages: on the pages, in mails, in a webhook."""

from collections.abc import Mapping

from docstore.reports.alerts import Alert
from search_ui.messages import has_message, say_in

CODES: Mapping[str, str] = {"stage": "stage", "reason": "reason"}  # values that are codes, and where their words are


def sentence(one: Alert, language: str) -> str:
    """An alert as a person reads it."""
    values = {name: _in_words(name, value, language) for name, value in one.values.items()}
    key = f"alert.{one.key.kind}"
    if one.key.kind == "run_failed":
        key += ("_in" if values.get("stage") else "") + ("" if values.get("error") else "_killed")
    return say_in(language, key, **values) if has_message(key) else one.key.kind


def _in_words(name: str, value: str | int, language: str) -> str | int:
    key = f"{CODES.get(name)}.{value}"
    return say_in(language, key) if name in CODES and has_message(key) else value
