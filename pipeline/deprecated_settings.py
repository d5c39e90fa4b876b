"""Settings that a later version refuses. Their values count for the settings that replace them, or for nothing.

A row moves a setting to another path with the same type and meaning, or ignores it. It stays for one minor version.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from domain.errors import SettingsError
from domain.setting import Secrecy


@dataclass(frozen=True)
class DeprecatedSetting:
    """A deprecated setting.

    Attributes:
        path: Full path of the setting.
        replacement: Full path of the setting that replaces it; "" if it has no effect any more.
        last_version: The last version that accepts it.
        secrecy: Which values are never shown.
    """

    path: str
    replacement: str
    last_version: str
    secrecy: Secrecy = Secrecy.NONE

    def __str__(self) -> str:
        if not self.replacement:
            return f"{self.path} has no effect any more: remove it; version {self.last_version} is the last with it"
        return (
            f"{self.path} is deprecated: use {self.replacement}; version {self.last_version} is the last that reads it"
        )


DEPRECATED_SETTINGS: tuple[DeprecatedSetting, ...] = (
    DeprecatedSetting("search.glossary_origins", "", "0.1"),
    DeprecatedSetting("alerts.apprise_urls", "", "0.1", Secrecy.ALL),
    DeprecatedSetting("crawl.seen_filter", "", "0.1"),
    DeprecatedSetting("crawl.processes", "", "0.1"),
)


def current_path(path: str) -> str:
    """Return the path that replaces a deprecated path, "" if none does; any other path is returned as it is."""
    return next((setting.replacement for setting in DEPRECATED_SETTINGS if setting.path == path), path)


def find_deprecated(paths: Iterable[str], more: Iterable[DeprecatedSetting] = ()) -> tuple[DeprecatedSetting, ...]:
    """Return the deprecated settings, and those of `more`, among full paths."""
    used_paths = set(paths)
    return tuple(setting for setting in (*DEPRECATED_SETTINGS, *more) if setting.path in used_paths)


def move_deprecated(sections: dict[str, dict[str, Any]]) -> None:
    """Move the values of deprecated settings to the settings that replace them, or remove them.

    Args:
        sections: TOML sections: section -> key -> value.

    Raises:
        SettingsError: A setting and its replacement are both set.
    """
    for setting in DEPRECATED_SETTINGS:
        section, _, key = setting.path.partition(".")
        if key not in sections.get(section, {}):
            continue
        value = sections[section].pop(key)
        if not setting.replacement:
            continue
        new_section, _, new_key = setting.replacement.partition(".")
        target = sections.setdefault(new_section, {})
        if new_key in target:
            raise SettingsError(f"{setting.path} and {setting.replacement} are the same setting: remove {setting.path}")
        target[new_key] = value
