"""The site's own words in each of its languages: flask-babel over `translations/<language>.po`.

A message is named by a key (`results.total`), so that a word which means two things can be two words in the other
language. The catalogs are read as they stand: nothing has to be compiled, so none can be out of date.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from io import BytesIO

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal
from babel.support import NullTranslations, Translations
from flask import Flask, g
from flask_babel import Babel, Domain

LANGUAGES = ("zh", "en")  # the first is the default
HTML_LANGUAGES: Mapping[str, str] = {"zh": "zh-Hans", "en": "en"}
_LOCALES: Mapping[str, str] = {"zh": "zh_Hans_CN", "en": "en"}


@cache
def load_catalog(language: str) -> Catalog:
    """All messages of one of `LANGUAGES`."""
    file = files("search_ui") / "translations" / f"{language}.po"
    return read_po(BytesIO(file.read_bytes()))


@cache
def _translations(language: str) -> Translations:
    mo_file = BytesIO()
    write_mo(mo_file, load_catalog(language))
    mo_file.seek(0)
    return Translations(mo_file)


class _PoDomain(Domain):  # type: ignore[misc]
    """flask-babel's messages in the language that the request has chosen (`g.language`)."""

    def get_translations(self) -> NullTranslations:
        return _translations(g.language)


_DOMAIN = _PoDomain()


def init_babel(app: Flask) -> None:
    """Give `app` its languages; a request's is `g.language`."""
    Babel(app, default_locale=_LOCALES[LANGUAGES[0]], default_domain=_DOMAIN, locale_selector=_locale)


def _locale() -> str:
    return _LOCALES[g.get("language", LANGUAGES[0])]


def translate(key: str, **values: object) -> str:
    """A message in the reader's language; whole numbers get separators. An unknown key raises KeyError.

    Where a message has a singular and a plural, `n` decides.
    """
    return translate_to(g.language, key, **values)


def translate_to(language: str, key: str, **values: object) -> str:
    """The same in one of `LANGUAGES`, also where there is no request."""
    message = load_catalog(language).get(key)
    if message is None:
        raise KeyError(key)
    locale, translations = _LOCALES[language], _translations(language)
    formatted_values = {
        name: format_decimal(value, locale=locale) if isinstance(value, int) else value
        for name, value in values.items()
    }
    text = (
        translations.ungettext(key, key, int(str(values["n"]))) if message.pluralizable else translations.ugettext(key)
    )
    return str(text % formatted_values if formatted_values else text)


def has_message(key: str) -> bool:
    """Is there such a message?"""
    return load_catalog(LANGUAGES[0]).get(key) is not None


def translate_code(kind: str, code: str) -> str:
    """A code (`reason`, `timed_out`) in the reader's language; one that is not known as it stands."""
    key = f"{kind}.{code}"
    return translate(key) if has_message(key) else code
