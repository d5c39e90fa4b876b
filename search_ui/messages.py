"""The site's own words in each of its languages, read from `translations/<language>.toml`."""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files

LANGUAGES = ("zh", "en")  # the first is the default
HTML_LANGUAGES: Mapping[str, str] = {"zh": "zh-Hans", "en": "en"}

Messages = Mapping[str, str]


def load_messages() -> Mapping[str, Messages]:
    """All languages, each as one flat table: `[home]` `search = "…"` is `home.search`."""
    folder = files("search_ui") / "translations"
    return {
        language: dict(_flat(tomllib.loads((folder / f"{language}.toml").read_text("utf-8")))) for language in LANGUAGES
    }


def _flat(table: Mapping[str, object], path: str = "") -> Iterable[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", str(value)


def translator(messages: Messages) -> Callable[..., str]:
    """A function `t(key, **values)` for templates; numbers get thousands separators.

    Where a message depends on a number `n`, `key.one` is taken for 1 if it is there. An unknown key raises KeyError.
    """

    def translate(key: str, **values: object) -> str:
        chosen = f"{key}.one" if values.get("n") == 1 and f"{key}.one" in messages else key
        written = {name: f"{value:,}" if isinstance(value, int) else value for name, value in values.items()}
        return (messages.get(chosen) or messages[f"{key}.other"]).format(**written)

    return translate
