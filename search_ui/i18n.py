"""The interface texts of the site in each of its languages: Babel over `translations/<language>.po`.

The language of a request is `g.language`.

A message is identified by a key such as `results.total`, not by its English text, because the same English word can
need different translations. The catalogs are read at start. There is no compiled file that could be out of date.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from io import BytesIO

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal
from babel.support import Translations
from flask import g
from markupsafe import Markup, escape

from domain.coded_message import CodedMessage, coded_message
from search_ui.query.display_text import clean_text

LANGUAGES = ("zh", "en")  # the first is the default
HTML_LANGUAGES: Mapping[str, str] = {"zh": "zh-Hans", "en": "en"}
CODE_VALUE_NAMES = frozenset({"reason", "stage", "strategy"})  # also the prefixes of the keys of their names
_HAN_RE = re.compile("[\u3400-\u9fff]")
_LOCALES: Mapping[str, str] = {"zh": "zh_Hans_CN", "en": "en"}


@cache
def load_catalog(language: str) -> Catalog:
    """Return all messages of one of `LANGUAGES`."""
    file = files("search_ui") / "translations" / f"{language}.po"
    return read_po(BytesIO(file.read_bytes()))


@cache
def _translations(language: str) -> Translations:
    mo_file = BytesIO()
    write_mo(mo_file, load_catalog(language))
    mo_file.seek(0)
    return Translations(mo_file)


def format_number(value: int) -> str:
    """Return a whole number with the separators of the reader's language."""
    return _format_integer(g.get("language", LANGUAGES[0]), value)


def translate(key: str, **values: object) -> str:
    """Return a message in the reader's language. Integers in `values` are formatted with separators.

    Args:
        key: Key of the message.
        values: Placeholders of the message. `n` selects the singular or the plural if the message has both.

    Raises:
        KeyError: There is no message with this key.
    """
    return translate_to(g.language, key, **values)


def translate_to(language: str, key: str, **values: object) -> str:
    """Return a message in one of `LANGUAGES`. Works without a request. Otherwise like `translate`."""
    text = _select_text(language, key, values)
    return text % _format_values(language, values) if values else text


def translate_markup(key: str, **values: object) -> Markup:
    """Return a message as HTML, for values that are elements. Values that are no `Markup` are escaped."""
    return Markup(escape(_select_text(g.language, key, values))) % _format_values(g.language, values)  # noqa: S704 (escaped before)


def _select_text(language: str, key: str, values: Mapping[str, object]) -> str:
    """Return the text of a message with its placeholders, in the singular or plural of `n`."""
    message = load_catalog(language).get(key)
    if message is None:
        raise KeyError(key)
    translations = _translations(language)
    if message.pluralizable:
        return str(translations.ungettext(key, key, int(str(values["n"]))))
    return str(translations.ugettext(key))


def _format_values(language: str, values: Mapping[str, object]) -> dict[str, object]:
    return {
        name: _format_integer(language, int(value)) if isinstance(value, int) else value
        for name, value in values.items()
    }


@lru_cache(maxsize=10_000)  # a results page has about a hundred counts
def _format_integer(language: str, value: int) -> str:
    return str(format_decimal(value, locale=_LOCALES[language]))


def has_message(key: str) -> bool:
    """Return True if the catalogs have a message with this key."""
    return load_catalog(LANGUAGES[0]).get(key) is not None


def lang_attribute(text: str) -> Markup:
    """Return ` lang="zh-Hans"` for a text with Chinese characters on a page in another language; "" otherwise."""
    return _CHINESE_ATTRIBUTE if g.language != "zh" and _HAN_RE.search(text) else _NO_ATTRIBUTE


_CHINESE_ATTRIBUTE, _NO_ATTRIBUTE = Markup(' lang="zh-Hans"'), Markup()


def translate_code(kind: str, code: str) -> str:
    """Return the name of a code (`reason`, `timed_out`) in the reader's language; the code itself if it has no name."""
    key = f"{kind}.{code}"
    return translate(key) if has_message(key) else code


def translate_setting_help(text: str) -> str:
    """Return the help of a setting in the reader's language; `text`, its English help, if it is not translated."""
    if g.language == "en":
        return text
    message = load_catalog(f"settings.{g.language}").get(text)
    return str(message.string) if message is not None and message.string else text


def translate_error(error: Exception) -> str:
    """Return what an error says in the reader's language; its English text if the catalogs do not have it."""
    return translate_message(coded_message(error))


def translate_message(message: str) -> str:
    """Return a `CodedMessage` in the reader's language. Other texts are returned without unprintable characters."""
    return translate_message_to(g.language, message)


def translate_message_to(language: str, message: str) -> str:
    """Return a message in one of `LANGUAGES`. Works without a request. Otherwise like `translate_message`."""
    if not isinstance(message, CodedMessage) or not has_message(f"error.{message.code}"):
        return clean_text(message)
    values = {name: message_value(language, name, value) for name, value in message.values.items()}
    return translate_to(language, f"error.{message.code}", **values)


def message_value(language: str, name: str, value: object) -> object:
    """Return the value of the placeholder `name` of a message in one of `LANGUAGES`.

    Messages are translated, also in a tuple, which becomes a list. A value of CODE_VALUE_NAMES is a code whose name is
    returned. Other values are returned unchanged.
    """
    if isinstance(value, tuple):
        separator = "list.clauses" if any(isinstance(item, CodedMessage) for item in value) else "list.separator"
        return translate_to(language, separator).join(str(message_value(language, name, item)) for item in value)
    if not isinstance(value, str):
        return value
    key = f"{name}.{value}"
    if name in CODE_VALUE_NAMES and has_message(key):
        return translate_to(language, key)
    return translate_message_to(language, value)
