"""The settings page on the settings file: for `search_ui.admin.settings_form`."""

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args, get_origin

from crawler.site import SECRET_KEYS
from docstore.operations import OperationTable
from domain.administration import PendingAction
from domain.errors import SettingsConflictError, SettingsError
from domain.message import error_message
from domain.setting import Group, Secrecy, SettingEffect, hides_value, setting_fields
from pipeline.deprecated_settings import DEPRECATED_SETTINGS
from pipeline.old_site_settings import DEPRECATED_SITE_SETTINGS
from pipeline.settings import (
    ALLOWED_VALUES,
    ENV_PREFIX,
    SECTIONS,
    SITES,
    OverrideSource,
    Settings,
    has_secrets,
    parse_number,
    setting_types,
    validate_value,
)
from pipeline.settings_source import Sections, SettingsEdit, SettingsSource, stored_value
from pipeline.settings_template import default_value
from pipeline.settings_text import apply_changes
from search_ui.admin.settings_form import (
    HIDDEN_VALUE,
    NEW_HIDDEN_VALUE,
    Edits,
    SettingField,
    SettingKind,
    SettingsForm,
    SettingsReview,
)

CHANGE_ACTION = "setting_change"
FIRST_SECTIONS = ("search", "vertical", "schedule", "crawl")  # within a group: what people change first


@dataclass(frozen=True)
class SettingSpec:
    """What the dataclass of a section says about a setting. `field` is that of a file without the setting."""

    field: SettingField
    value_type: Any
    default: Any
    secrecy: Secrecy
    group: Group


class FileSettingsEditor:
    """Edits the settings file of a running search site.

    Args:
        settings: The settings that the site was started with.
        actions: Records each changed setting.
    """

    def __init__(self, settings: Settings, actions: OperationTable) -> None:
        self._site_settings = settings
        self._actions = actions

    @property
    def _source(self) -> SettingsSource:
        return self._site_settings.require_source()

    def load_form(self) -> SettingsForm:
        """Read the file. Raises SettingsError if it cannot be read, or is not valid TOML."""
        current = self._source.read()
        raw = self._source.parse(current.text)
        groups = {
            name: [self._field(spec, raw) for spec in SPECS.values() if spec.group == name]
            for name in get_args(Group)
            if name
        }
        return SettingsForm(self._source.file.name, current.digest, groups)

    def review(self, edits: Edits, digest: str) -> SettingsReview:
        """Return what `edits` would change. Raises SettingsError; SettingsConflictError for an older `digest`."""
        changes, errors = parse_edits(edits)
        if errors:
            return SettingsReview(errors=errors)
        try:
            edit = self._source.edit(lambda _: changes, digest=digest, is_preview=True)
        except SettingsConflictError:
            raise
        except SettingsError as error:
            return SettingsReview(errors={error.path: error_message(error)})
        return SettingsReview(list(iter_diff(edit)))

    def save(self, edits: Edits, digest: str, account: str) -> int:
        """Change the file and record each changed setting; returns their number.

        Raises SettingsError if an edit is invalid or the file cannot be written, SettingsConflictError for an older
        `digest`.
        """
        changes, errors = parse_edits(edits)
        if errors:
            raise SettingsError(next(iter(errors.values())))

        def describe(edit: SettingsEdit) -> list[PendingAction]:
            return [
                self._actions.prepare(account, CHANGE_ACTION, *describe_change(edit, path)) for path in edit.changes
            ]

        return len(self._source.edit(lambda _: changes, self._actions, describe, digest).changes)

    def undo(self, path: str, before: object, after: object, account: str) -> bool:
        """Give a setting its value before a change and record it. Returns False if it has another value now.

        Raises SettingsError, or SettingsConflictError if the file changes at the same time.
        """
        find_changeable(path)

        def find_changes(sections: Sections) -> Mapping[str, object | None]:
            return {path: before} if stored_value(sections, path) == after else {}

        pending = self._actions.prepare(account, CHANGE_ACTION, path, {"before": after, "after": before})
        return bool(self._source.edit(find_changes, self._actions, lambda _: [pending]).changes)

    def _field(self, spec: SettingSpec, raw: Mapping[str, Mapping[str, Any]]) -> SettingField:
        section, _, key = spec.field.path.partition(".")
        source = self._source.overridden(spec.field.path)
        site_text = form_text(getattr(getattr(self._site_settings, section), key))
        default_text = form_text(spec.default)
        if spec.field.path == "search.title":
            default_text = raw.get("vertical", {}).get("name") or default_text
        text = site_text if source else form_text(raw.get(section, {}).get(key, default_text))
        is_hidden = hides_value(spec.secrecy, f"{text} {site_text}")
        needs_restart = spec.field.effect in (SettingEffect.RESTART, SettingEffect.RUN_AND_RESTART)
        variable = f"{ENV_PREFIX}{section}_{key}".upper()
        return replace(
            spec.field,
            default=default_text,
            text="" if is_hidden else text,
            is_set=key in raw.get(section, {}),
            is_secret=is_hidden,
            overridden_by=variable if source is OverrideSource.ENVIRONMENT else source or "",
            needs_restart=needs_restart and site_text != text,
            site_text=None if is_hidden or site_text == text else site_text,
        )


def parse_edits(edits: Edits) -> tuple[dict[str, object | None], dict[str, str]]:
    """Return the new value by path, None for a default, and the errors by path."""
    changes: dict[str, object | None] = {}
    errors: dict[str, str] = {}
    for path, text in edits.items():
        try:
            changes[path] = parse_edit(find_changeable(path), text)
        except SettingsError as error:
            errors[path] = error_message(error)
    return changes, errors


def find_changeable(path: str) -> SettingSpec:
    """Return a setting. Raises SettingsError if it is unknown, or if it is changed in the file only."""
    spec = SPECS.get(path)
    if spec is None:
        raise SettingsError(f"unknown setting {path}")
    if spec.field.is_file_only:
        raise SettingsError(
            "{path} names files, folders or hosts of the server: change it in the settings file", path=path
        )
    return spec


def describe_change(edit: SettingsEdit, path: str) -> tuple[str, dict[str, object]]:
    """Return the path of a changed setting, and its values before and after unless one of them is secret."""
    values = {"before": stored_value(edit.before, path), "after": stored_value(edit.after, path)}
    is_hidden = any(hides_value(SPECS[path].secrecy, form_text(value)) for value in values.values())
    return path, {} if is_hidden else values


def parse_edit(spec: SettingSpec, text: str | None) -> object | None:
    """Return the value of a form field; None if it is the default. Raises SettingsError as for a value in the file."""
    if text is None:
        return None
    path, kind = spec.field.path, spec.field.kind
    value = parse_text(path, kind, text if kind is SettingKind.TEXT else text.strip())  # a prefix can end in a blank
    # The name of the vertical is the default of search.title.
    is_default = validate_value(path, value, spec.value_type) == spec.default and path != "search.title"
    return None if is_default or (path == "search.title" and not value) else value


def parse_text(path: str, kind: SettingKind, text: str) -> object:
    """Convert the text of a form field to a TOML value; text that is no number stays text, which is invalid then."""
    if kind is SettingKind.LIST:
        return [line.strip() for line in text.split("\n") if line.strip()]
    if kind is SettingKind.TABLE:
        pairs = [list(map(str.strip, line.partition("="))) for line in text.split("\n") if line.strip()]
        if not all(name and separator for name, separator, _ in pairs):
            raise SettingsError("{path}: expected name = value in each line", path=path)
        return {name: value for name, _, value in pairs}
    if kind is SettingKind.SWITCH:
        return {"true": True, "false": False}.get(text, text)
    return parse_number(text) if kind is SettingKind.NUMBER else text


def form_text(value: Any) -> str:
    """Return a value as the text of its form field."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "\n".join(f"{name} = {item}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return "\n".join(map(str, value))
    return "" if value is None else f"{value:.15g}" if isinstance(value, float) else str(value)


def iter_diff(edit: SettingsEdit) -> Iterator[str]:
    """Yield the lines of a unified diff without the values of secrets."""
    old_text, new_text = (hide_commented_secrets(hide_site_secrets(text)) for text in (edit.old_text, edit.new_text))
    old, new = map(tomllib.loads, (old_text, new_text))
    for path, secrecy in SECRECY_BY_PATH.items():
        before, after = stored_value(old, path), stored_value(new, path)
        if hides_value(secrecy, f"{form_text(before)} {form_text(after)}"):
            is_changed = before != after
            if before is not None:
                old_text = apply_changes(old_text, {path: HIDDEN_VALUE})
            if after is not None:
                new_text = apply_changes(new_text, {path: NEW_HIDDEN_VALUE if is_changed else HIDDEN_VALUE})
    lines = difflib.unified_diff(old_text.splitlines(), new_text.splitlines(), lineterm="", n=2)
    yield from list(lines)[2:]  # without the two lines that name the files


def hide_site_secrets(text: str) -> str:
    """Return the text of a settings file without the secrets of its tables [[sites]]."""
    tables = tomllib.loads(text).get(SITES, [])
    hidden_tables = [
        {**table, **{key: HIDDEN_VALUE for key in SECRET_KEYS if key in table}} if has_secrets(table) else table
        for table in tables
    ]
    return apply_changes(text, {SITES: hidden_tables}) if hidden_tables != tables else text


def hide_commented_secrets(text: str) -> str:
    """Hide the values in comments such as `# webhook = ...`, also in those that continue on the next lines."""
    paths = (path.partition(".")[2] for path, secrecy in SECRECY_BY_PATH.items() if hides_value(secrecy, "@"))
    names = "|".join((*paths, *SECRET_KEYS))
    start = rf"^([ \t]*#.*\b(?:{names})[ \t]*=)[ \t]*(?!(?:\[\]|\"\")$)\S.*$"
    continuation = r"(?:\n[ \t]*#(?!\s*\w+\s*=).*)*"
    return re.sub(f"{start}{continuation}", rf"\1 {HIDDEN_VALUE}", text, flags=re.M)


def setting_kind(path: str, value_type: Any) -> SettingKind:
    """Return the form field for a type of setting."""
    if path in ALLOWED_VALUES:
        return SettingKind.CHOICE
    if get_origin(value_type) is tuple:
        return SettingKind.LIST
    simple_kinds = {bool: SettingKind.SWITCH, int: SettingKind.NUMBER, float: SettingKind.NUMBER, str: SettingKind.TEXT}
    return simple_kinds.get(value_type, SettingKind.TABLE)


def iter_specs() -> Iterator[SettingSpec]:
    """Yield what the dataclasses say about all settings."""
    for section in dict.fromkeys((*FIRST_SECTIONS, *SECTIONS)):
        settings_class = SECTIONS[section]
        types = setting_types(settings_class)
        for setting in setting_fields(settings_class):
            path, metadata = f"{section}.{setting.name}", setting.metadata
            kind = setting_kind(path, types[setting.name])
            effect = metadata["effect"] or getattr(settings_class, "EFFECT", SettingEffect.NEXT_RUN)
            choices = ("true", "false") if kind is SettingKind.SWITCH else tuple(ALLOWED_VALUES.get(path, ()))
            field = SettingField(
                path, kind, metadata["help"], effect, choices=choices, is_file_only=metadata["is_file_only"]
            )
            group = metadata["group"] or settings_class.GROUP
            yield SettingSpec(field, types[setting.name], default_value(setting), metadata["secrecy"], group)


SPECS: Mapping[str, SettingSpec] = {spec.field.path: spec for spec in iter_specs()}
SECRECY_BY_PATH: Mapping[str, Secrecy] = {path: spec.secrecy for path, spec in SPECS.items()} | {
    setting.path: setting.secrecy for setting in (*DEPRECATED_SETTINGS, *DEPRECATED_SITE_SETTINGS)
}
