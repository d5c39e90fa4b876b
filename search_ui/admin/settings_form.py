"""What the settings page shows and changes of the settings file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from domain.setting import SettingEffect

HIDDEN_VALUE = "(not shown)"  # in a diff, in place of a secret
NEW_HIDDEN_VALUE = "(new value, not shown)"


class SettingKind(StrEnum):
    """The form field of a setting, and how its value is written as text."""

    TEXT = "text"
    NUMBER = "number"
    SWITCH = "switch"  # true or false
    CHOICE = "choice"  # one of `SettingField.choices`
    LIST = "list"  # one entry per line
    TABLE = "table"  # one line `name = value` per entry


@dataclass(frozen=True)
class SettingField:
    """One setting.

    Attributes:
        path: Such as `crawl.threads`.
        kind: The form field.
        help: What the setting does, in English.
        effect: When a change takes effect.
        default: The default as text.
        text: The value in the file, or the default; "" for a secret.
        choices: The allowed values of a choice.
        is_set: True if the file has the setting.
        is_secret: True if its value is never shown.
        is_file_only: True if it is changed in the file only.
        overridden_by: Name of the environment variable that has precedence, `command_line`, or "".
        needs_restart: True if the running search site uses another value until it restarts.
        site_text: The value that the running search site uses; None if it is that of the file, or secret.
    """

    path: str
    kind: SettingKind
    help: str
    effect: SettingEffect
    default: str = ""
    text: str = ""
    choices: Sequence[str] = ()
    is_set: bool = False
    is_secret: bool = False
    is_file_only: bool = False
    overridden_by: str = ""
    needs_restart: bool = False
    site_text: str | None = None


@dataclass(frozen=True)
class SettingsForm:
    """All settings of the file, by the question that they answer.

    `digest` identifies the state of the file.
    """

    file_name: str
    digest: str
    fields: Mapping[str, Sequence[SettingField]]

    def by_path(self) -> dict[str, SettingField]:
        """Return the fields by the path of their setting."""
        return {field.path: field for fields in self.fields.values() for field in fields}


@dataclass(frozen=True)
class SettingsReview:
    """What a change would do.

    Attributes:
        diff: The lines of a unified diff of the file, without the values of secrets; empty if nothing changes.
        errors: Message by path of the setting; "" for an error of the whole file. A change with errors is not saved.
    """

    diff: Sequence[str] = ()
    errors: Mapping[str, str] = field(default_factory=dict)


Edits = Mapping[str, str | None]
"""New text by path of the setting; None removes the setting from the file, so that its default applies."""


@dataclass(frozen=True)
class SettingsReader:
    """Functions that read the settings file. They raise SettingsError.

    Attributes:
        load_form: Reads the file.
        review: Returns what edits of the file with a digest would change. SettingsConflictError for an older digest.
    """

    load_form: Callable[[], SettingsForm]
    review: Callable[[Edits, str], SettingsReview]
