"""The settings of a running search site as its file states them now."""

import logging
import os
from dataclasses import replace
from typing import Any

from domain.errors import SettingsError
from pipeline.settings import OverrideSource, Settings, load_settings

log = logging.getLogger(__name__)

FileStamp = tuple[int, int, int]
"""Inode, size and time of the last change in nanoseconds."""


class CurrentSettings:
    """Loads the settings file again when it has changed.

    Values from the command line keep their precedence. While the file is missing or invalid, the last valid settings
    apply.

    Args:
        settings: The settings that the site was started with.
    """

    def __init__(self, settings: Settings) -> None:
        self._start_settings = self._settings = settings
        self._stamp: FileStamp | None = None

    def load(self) -> Settings:
        """Return the current settings."""
        file = self._start_settings.file
        stamp = file_stamp(file) if file is not None else None
        if file is None or stamp is None or stamp == self._stamp:
            return self._settings
        try:
            self._settings = with_command_line(load_settings(file), self._start_settings)
        except SettingsError as error:
            log.warning("the search site keeps its settings, because those in the file are invalid: %s", error)
        self._stamp = stamp
        return self._settings


def file_stamp(path: os.PathLike[str]) -> FileStamp | None:
    """Return what changes with every change of a file; None if there is no such file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def with_command_line(settings: Settings, start_settings: Settings) -> Settings:
    """Return settings with the values that the command line has set at the start."""
    for path, source in start_settings.overrides.items():
        if source is OverrideSource.COMMAND_LINE:
            settings = with_value(settings, start_settings, path)
    return settings


def with_value(settings: Any, source: Any, path: str) -> Any:
    """Return settings, or a table of them, in which the value at `path` is that of `source`."""
    name, _, rest = path.partition(".")
    value = getattr(source, name)
    return replace(settings, **{name: with_value(getattr(settings, name), value, rest) if rest else value})
