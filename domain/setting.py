"""How a setting declares itself. The settings page, the sample file and the reference are made from this."""

import math
from collections.abc import Collection, Mapping
from dataclasses import Field, field, fields
from enum import StrEnum
from typing import Any, Literal, TypeVar

from domain.message import Message

T = TypeVar("T")
Group = Literal["what", "speed", "times", "exclusions", "search", "terms", "identity", "texts", "alerts", "machine", ""]
"""The question that a setting answers on the settings page, in its order; "" for a setting that the page leaves out."""


class SettingEffect(StrEnum):
    """When a changed setting takes effect."""

    AT_ONCE = "at_once"
    NEXT_RUN = "next_run"
    RESTART = "restart"  # of the search site
    RUN_AND_RESTART = "run_and_restart"


class Secrecy(StrEnum):
    """Which values of a setting are never shown."""

    NONE = "none"
    ALL = "all"
    WITH_CREDENTIALS = "with_credentials"  # URLs with a user name before the host, or with parameters


def setting(
    default: T,
    text: str,
    minimum: float | None = None,
    maximum: float | None = None,
    names: Collection[str] = (),
    group: Group = "",
    effect: SettingEffect | None = None,
    secrecy: Secrecy = Secrecy.NONE,
    is_file_only: bool = False,
) -> T:
    """Define a field of a settings class.

    Args:
        default: Default value; a dict for a table.
        text: Help text.
        minimum: Minimum of a number. If None, the number must be above 0.
        maximum: Maximum of a number, None for no maximum.
        names: Allowed values of a name.
        group: Place on the settings page; by default the `GROUP` of its class.
        effect: When a change takes effect; by default the `EFFECT` of its class, or at the next run.
        secrecy: Which values are never shown.
        is_file_only: It names a file, a folder or an inside host. The search site shows it and never changes it.
    """
    metadata = {"help": text, "least": minimum, "most": maximum, "names": tuple(names)}
    metadata |= {"group": group, "effect": effect, "secrecy": secrecy, "is_file_only": is_file_only}
    if isinstance(default, dict):
        return field(default_factory=default.copy, metadata=metadata)  # type: ignore[return-value]
    return field(default=default, metadata=metadata)


def setting_fields(settings_class: type[Any]) -> "list[Field[Any]]":
    """Return the fields that `setting` has defined. Other fields of the class are no settings."""
    return [item for item in fields(settings_class) if "help" in item.metadata]


def hides_value(secrecy: Secrecy, text: str) -> bool:
    """Return True if the value `text` of a setting must not be shown."""
    return secrecy is Secrecy.ALL or (secrecy is Secrecy.WITH_CREDENTIALS and ("@" in text or "?" in text))


def violated_bound(path: str, value: float, metadata: Mapping[str, Any]) -> Message | None:
    """Return what is wrong with the number `value` of the setting `path`; None if it is within its bounds."""
    minimum, maximum = metadata.get("least"), metadata.get("most")
    values = {"path": path, "value": str(value), "maximum": str(maximum), "minimum": str(minimum)}
    if not math.isfinite(value):
        return Message("{path} = {value}: must be a finite number", **values)
    if maximum is not None and value > maximum:
        return Message("{path} = {value}: must be {maximum} or less", **values)
    if minimum is None:
        return None if value > 0 else Message("{path} = {value}: must be more than 0", **values)
    return None if value >= minimum else Message("{path} = {value}: must be {minimum} or more", **values)
