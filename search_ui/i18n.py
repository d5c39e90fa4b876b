"""The interface texts of the site in each of its languages.

A message is identified by its English text; `translations/zh.po` has the Chinese one. The names of codes
(`timed_out`, `accepted`) are in `translations/names.toml` in both languages. The files are read at start. There is no
compiled file that could be out of date. The language of a request is `g.language`.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from io import BytesIO

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import Translations
from flask import g
from markupsafe import Markup, escape

from domain.alert import Alert
from domain.message import Message, error_message, fill_template, list_separator, select_form, value_text
from search_ui.query.display_text import clean_text

LANGUAGES = ("zh", "en")  # the first is the default
HTML_LANGUAGES: Mapping[str, str] = {"zh": "zh-Hans", "en": "en"}
CODE_VALUE_NAMES = frozenset({"reason", "stage", "strategy"})  # also the kinds of their names
_HAN_RE = re.compile("[\u3400-\u9fff]")


@cache
def load_catalog(name: str) -> Catalog:
    """Return all messages of the file `translations/NAME.po`."""
    return read_po(BytesIO((files("search_ui") / "translations" / f"{name}.po").read_bytes()))


@cache
def _translations(name: str) -> Translations:
    mo_file = BytesIO()
    write_mo(mo_file, load_catalog(name))
    mo_file.seek(0)
    return Translations(mo_file)


@cache
def load_names() -> Mapping[str, Mapping[str, list[str]]]:
    """Return the names of all codes by kind and code: English (and its plural if it has one), then Chinese."""
    return tomllib.loads((files("search_ui") / "translations" / "names.toml").read_text("utf-8"))


def translate(text: str, plural: str = "", /, **values: object) -> str:
    """Return a message in the reader's language. Integers in `values` are formatted with separators.

    Args:
        text: English text of the message; the form for n = 1 if there is a plural.
        plural: English text for other n.
        values: Placeholders of the message.
    """
    return translate_to(g.language, text, plural, **values)


def translate_to(language: str, text: str, plural: str = "", /, **values: object) -> str:
    """Return a message in one of `LANGUAGES`. Works without a request. Otherwise like `translate`."""
    return fill_template(_select_form(language, text, plural, values), values, value_text)


def translate_markup(text: str, plural: str = "", /, **values: object) -> Markup:
    """Return a message as HTML, for values that are elements. Values that are no `Markup` are escaped."""
    return _to_markup(_select_form(g.language, text, plural, values), values)


def _select_form(language: str, text: str, plural: str, values: Mapping[str, object]) -> str:
    if language == "en":
        return select_form(text, plural, values)
    catalog = _translations(language)
    return str(catalog.ungettext(text, plural, int(str(values["n"]))) if plural else catalog.ugettext(text))


def _to_markup(form: str, values: Mapping[str, object]) -> Markup:
    def to_text(value: object) -> str:
        return str(escape(value if isinstance(value, Markup) else value_text(value)))

    return Markup(fill_template(str(escape(form)), values, to_text))  # noqa: S704 (escaped before)


def has_name(kind: str, code: str) -> bool:
    """Return True if a code has a name."""
    return code in load_names().get(kind, {})


def translate_code(kind: str, code: str, /, **values: object) -> str:
    """Return the name of a code (`reason`, `timed_out`) in the reader's language; the code itself if it has no name."""
    return translate_code_to(g.language, kind, code, **values)


def translate_code_to(language: str, kind: str, code: str, /, **values: object) -> str:
    """Return the name of a code in one of `LANGUAGES`. Works without a request. Otherwise like `translate_code`."""
    return fill_template(_name(language, kind, code, values), values, value_text)


def translate_code_markup(kind: str, code: str, /, **values: object) -> Markup:
    """Return the name of a code as HTML. Otherwise like `translate_markup`."""
    return _to_markup(_name(g.language, kind, code, values), values)


def _name(language: str, kind: str, code: str, values: Mapping[str, object]) -> str:
    *english, chinese = load_names()[kind].get(code, (code, code))
    return chinese if language == "zh" else select_form(english[0], "".join(english[1:]), values)


def lang_attribute(text: str) -> Markup:
    """Return ` lang="zh-Hans"` for a text with Chinese characters on a page in another language; "" otherwise."""
    return _CHINESE_ATTRIBUTE if g.language != "zh" and _HAN_RE.search(text) else _NO_ATTRIBUTE


_CHINESE_ATTRIBUTE, _NO_ATTRIBUTE = Markup(' lang="zh-Hans"'), Markup()


def translate_setting_help(text: str) -> str:
    """Return the help of a setting in the reader's language; `text`, its English help, if it is not translated."""
    return text if g.language == "en" else str(_translations(f"settings.{g.language}").ugettext(text))


def translate_error(error: Exception) -> str:
    """Return what an error says in the reader's language; its English text if it has no translation."""
    return translate_message(error_message(error))


def translate_message(message: str) -> str:
    """Return a `Message` in the reader's language. Other texts are returned without unprintable characters."""
    return translate_message_to(g.language, message)


def translate_message_to(language: str, message: str) -> str:
    """Return a message in one of `LANGUAGES`. Works without a request. Otherwise like `translate_message`."""
    if not isinstance(message, Message):
        return clean_text(message)
    values = {name: message_value(language, name, value) for name, value in message.values.items()}
    return clean_text(translate_to(language, message.template, message.plural, **values))


def alert_message(alert: Alert, language: str) -> str:
    """Return the message of an alert, for pages, mails and webhooks."""
    values = {name: message_value(language, name, value) for name, value in alert.message_values.items()}
    code = alert.key.kind
    if code == "run_failed":
        code += ("_in" if values.get("stage") else "") + ("" if values.get("error") else "_killed")
    return translate_code_to(language, "alert", code, **values)


def message_value(language: str, name: str, value: object) -> object:
    """Return the value of the placeholder `name` of a message in one of `LANGUAGES`.

    Messages are translated, also in a tuple, which becomes a list. A value of CODE_VALUE_NAMES is a code whose name is
    returned. Other values are returned unchanged.
    """
    if isinstance(value, tuple):
        separator = translate_to(language, list_separator(value))
        return separator.join(str(message_value(language, name, item)) for item in value)
    if not isinstance(value, str):
        return value
    if name in CODE_VALUE_NAMES and has_name(name, value):
        return translate_code_to(language, name, value)
    return translate_message_to(language, value)
