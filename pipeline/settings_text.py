"""Change single settings in the text of a TOML file. Comments, order and blank lines stay. Pure."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Array, Comment, Item, Null, Table

from crawler.site import table_host
from domain.errors import SettingsError

Changes = Mapping[str, object | None]
"""New value by setting path, such as `crawl.threads`. None removes the setting from the file."""
MAX_INLINE_CHARS = 100
"""A longer list is written with one entry per line."""
SAMPLE_RE = re.compile(r"\s*#\s*[\w-]+\s*=")
SITE_LINE_RE = re.compile(r"\[\[\s*sites\s*\]\]")


def apply_changes(text: str, changes: Changes) -> str:
    """Return TOML text with changed settings. Comments, order and blank lines stay.

    Args:
        text: Valid TOML.
        changes: New value by setting path, such as `crawl.threads`. None removes the setting: it has its default.

    Raises:
        SettingsError: The text is not valid TOML, or is written in a form that this function cannot change safely.
    """
    try:
        return _apply_valid_changes(text, changes)
    except (TOMLKitError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"the file is not valid TOML: {error}") from error


def _apply_valid_changes(text: str, changes: Changes) -> str:
    for setting_path, value in changes.items():
        if setting_path == "sites":
            text = edit_sites(text, value if isinstance(value, list) else [])
            continue
        section, _, key = setting_path.partition(".")
        expected = tomllib.loads(text)
        if value is None:
            expected.get(section, {}).pop(key, None)
        else:
            expected.setdefault(section, {})[key] = plain_value(value)
        text = next(
            (new_text for new_text in iter_edits(text, section, key, value) if has_toml_data(new_text, expected)), ""
        )
        if not text and expected:
            raise SettingsError(f"{setting_path} is written in an unusual form: change it in the file")
    return text


def edit_sites(text: str, tables: Sequence[Mapping[str, Any]]) -> str:
    """Return TOML text with other tables [[sites]]. New ones come last; those that stay the same keep their text.

    Raises SettingsError if the tables are written in an unusual form.
    """
    text, data = ending_line(text), tomllib.loads(text)
    old_tables, spans = data.get("sites", ()), list(find_site_tables(text))
    if old_tables and not spans:  # sites = [{...}]
        document = tomlkit.parse(text)
        document["sites"] = create_item(tables)
        return document.as_string()
    new_tables, parts, end = {table_host(table): table for table in tables}, [""], 0
    for (start, table_end), old_table in zip(spans, old_tables, strict=False):
        parts.append(text[end:start])
        end = table_end
        new_table = new_tables.pop(table_host(old_table), None)
        if new_table is None:
            parts[-1] = without_block_above(parts[-1])
        else:
            parts.append(text[start:end] if new_table == old_table else edit_table(text[start:end], new_table))
    rest = text[end:]
    if end:  # new tables are written below the last one, otherwise at the end
        comments = comments_below(rest)
        parts.append(comments)
        rest = rest.removeprefix(comments)
    else:
        parts.append(rest)
        rest = ""
    parts[1:] = [ending_line("".join(parts))] if new_tables else parts[1:]
    parts += [f"\n[[sites]]\n{''.join(map(setting_line, table.items()))}" for table in new_tables.values()]
    new_text = "".join([*parts, rest])
    if not has_toml_data(new_text, {**data, "sites": list(tables)}):
        raise SettingsError("[[sites]] is written in an unusual form: change it in the file")
    return new_text


def find_site_tables(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each table [[sites]] in TOML text.

    Comments and blank lines at its end belong to what follows.
    """
    start, end, position = -1, 0, 0
    for line in text.split("\n"):
        content = line.strip()
        if content.startswith("["):
            if start >= 0:
                yield start, end
            start = position if SITE_LINE_RE.match(content) else -1
        position = min(position + len(line) + 1, len(text))
        if content and not content.startswith("#"):
            end = position
    if start >= 0:
        yield start, end


def edit_table(text: str, values: Mapping[str, Any]) -> str:
    """Return the text of one table [[sites]] with other values."""
    document = tomlkit.parse(text)
    [table] = document["sites"]
    for key in [key for key in table if key not in values]:
        remove_setting(table, key)
    for key, value in values.items():
        if key not in table:
            insert_setting(table, key, create_item(value))
        elif table[key] != value and not edit_in_place(table[key], value):
            table[key] = create_item(value)
    return document.as_string()


def setting_line(item: tuple[str, Any]) -> str:
    """Return a line `key = value` with its line end."""
    return f"{tomlkit.key(item[0]).as_string()} = {create_item(item[1]).as_string()}\n"


def iter_edits(text: str, section: str, key: str, value: object | None) -> Iterator[str]:
    """Yield candidates for `text` with one changed setting, the least intrusive first."""
    document = tomlkit.parse(text)
    value_by_key: Any = document.get(section, {})
    if value is None:
        if key in value_by_key:
            remove_setting(value_by_key, key)
        yield document.as_string()
        return
    new_item = create_item(value)
    if key in value_by_key:
        if edit_in_place(value_by_key[key], value):
            yield document.as_string()
        value_by_key[key] = new_item
        yield document.as_string()
        return
    if table := find_section(document, section):
        insert_setting(table, key, new_item)
        yield document.as_string()
    yield f"{ending_line(text)}\n[{section}]\n{tomlkit.key(key).as_string()} = {new_item.as_string()}\n"
    document = tomlkit.parse(text)
    document.setdefault(section, {})[key] = new_item
    yield document.as_string()


def has_toml_data(text: str, expected: Mapping[str, Any]) -> bool:
    """True if `text` is valid TOML with the data `expected`; an empty section or list equals a missing one."""
    try:
        sections = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return {name: value for name, value in sections.items() if value} == {
        name: value for name, value in expected.items() if value
    }


def find_section(document: TOMLDocument, section: str) -> Table | None:
    """Return the table below the line `[section]`; None if there is no such line."""
    for key, item in document.body:
        if key is not None and key.key == section and isinstance(item, Table) and not item.is_super_table():
            return item
    return None


def insert_setting(table: Table, key: str, item: Item) -> None:
    """Insert a setting below its commented sample line (`# key = ...`), otherwise below the last setting.

    The comments before the next section stay below it.
    """
    body = table.value.body
    index = 0
    for i, (existing_key, existing) in enumerate(body):
        if isinstance(existing, Comment) and existing.as_string().lstrip("# ").startswith(f"{key} ="):
            index = i + 1
            break
        if existing_key is not None and not isinstance(existing, Table):
            index = i + 1
    if index:
        previous = body[index - 1][1]
        previous.trivia.trail = previous.trivia.trail or "\n"
    item.trivia.trail = "\n"
    body.insert(index, (tomlkit.key(key), item))


def remove_setting(table: Any, key: str) -> None:
    """Remove a setting with the comment directly above it, but not a commented sample line (`# other = ...`)."""
    if isinstance(table, Table):
        body = table.value.body
        index = [existing_key and existing_key.key for existing_key, _ in body].index(key) - 1
        while index >= 0 and isinstance(body[index][1], Comment) and not SAMPLE_RE.match(body[index][1].as_string()):
            body[index] = (None, Null())
            index -= 1
    del table[key]


def edit_in_place(item: Any, value: object) -> bool:
    """Change a list or table entry by entry, so that the comments of the other entries stay.

    Returns False if the entries of `item` cannot become those of `value`.
    """
    if isinstance(item, Array) and isinstance(value, list | tuple):
        for entry in [entry for entry in item if entry not in value]:
            item.remove(entry)
        for index, entry in enumerate(value):
            if index >= len(item) or item[index] != entry:
                item.insert(index, entry)
        del item[len(value) :]
        return list(item) == list(value)
    if isinstance(item, Mapping) and isinstance(value, Mapping):
        table: Any = item
        for name in [name for name in table if name not in value]:
            del table[name]
        for name, entry in value.items():
            if table.get(name) != entry:
                table[name] = entry
        return True
    return False


def create_item(value: object) -> Item:
    """Return a value as a TOML item: a long list with one entry per line, a mapping as an inline table."""
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        table.update(value)
        return table
    if isinstance(value, list | tuple):
        array = tomlkit.array()
        array.extend(value)
        return array.multiline(len(array.as_string()) > MAX_INLINE_CHARS)
    return tomlkit.item(value)


def plain_value(value: object) -> object:
    """Return a value as `tomllib` reads it."""
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def ending_line(text: str) -> str:
    """Return `text` with a line end if its last line has none."""
    return text if not text or text.endswith("\n") else f"{text}\n"


def without_block_above(text: str) -> str:
    """Return the text above a table without a blank line and the comments below it.

    Without such a line, the comments may belong to what is above.
    """
    lines = text.splitlines(keepends=True)
    while lines and is_comment(lines[-1]):
        lines.pop()
    return "".join(lines[:-1]) if lines and not lines[-1].strip() else text


def comments_below(text: str) -> str:
    """Return the comments at the begin of the text below a table, if a blank line or the end follows them."""
    lines = text.splitlines(keepends=True)
    count = next((number for number, line in enumerate(lines) if not is_comment(line)), len(lines))
    return "".join(lines[:count]) if count == len(lines) or not lines[count].strip() else ""


def is_comment(line: str) -> bool:
    """Return True if a line of TOML is a comment."""
    return line.lstrip(" \t").startswith("#")
