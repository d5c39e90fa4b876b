"""Read the settings and files that the tables [[sites]] have replaced, for one more version."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from crawler.settings import RENDER_AUTOMATICALLY
from crawler.site import Site, Sites, canonical_host, table_host, url_host
from crawler.state_files import parse_state, read_state
from crawler.urls.canonical import parse_scope
from domain.errors import SettingsError
from domain.setting import Secrecy
from pipeline.deprecated_settings import DeprecatedSetting
from pipeline.settings import parse_json, parse_number, parse_times_of_day, split_list, validate_container

log = logging.getLogger(__name__)

OLD_SITE_SETTINGS: Mapping[str, str] = {
    "crawl.seeds": "urls",
    "crawl.scope": "scope",
    "crawl.paused_sites": "paused",
    "crawl.site_delays": "delay",
    "crawl.site_quiet_hours": "quiet_hours",
    "crawl.headers": "headers",
    "crawl.cookies": "cookies",
    "crawl.proxies": "proxy",
    "crawl.rendered": "render",
    "search.site_names": "name",
    "store.keep_days_by_site": "keep_days",
    "schedule.sites": "schedule",
}
"""Path of an old setting -> the key of [[sites]] that replaces it."""
_SECRET_KEYS = {"headers": Secrecy.ALL, "cookies": Secrecy.ALL, "proxy": Secrecy.WITH_CREDENTIALS}
DEPRECATED_SITE_SETTINGS = tuple(
    DeprecatedSetting(path, f"{key} of [[sites]] (`plumb upgrade`)", "0.1", _SECRET_KEYS.get(key, Secrecy.NONE))
    for path, key in OLD_SITE_SETTINGS.items()
)
ADDED_SITES_FILE, RENDERED_HOSTS_FILE = "sites.json", "rendered.json"
Tables = dict[str, dict[str, Any]]
"""Host -> table [[sites]]."""


def find_old_settings(sections: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the old settings in TOML sections, by path. `crawl.rendered` is old if it names sites."""
    values = {path: sections.get(path.partition(".")[0], {}).get(path.partition(".")[2]) for path in OLD_SITE_SETTINGS}
    if values["crawl.rendered"] in ("", RENDER_AUTOMATICALLY):
        del values["crawl.rendered"]
    return {path: value for path, value in values.items() if value is not None}


def replace_old_settings(sections: Mapping[str, Any], data_dir: Path | None = None) -> dict[str, Any]:
    """Return TOML sections in which tables [[sites]] replace the old settings and files.

    An old setting replaces a key of all tables, as a setting of the environment overrides one of the file.

    Args:
        sections: TOML sections. Lists and tables may be texts, as in the environment.
        data_dir: Folder of the old files; None: without them.

    Raises SettingsError for an invalid line.
    """
    old = {path: parse_value(path, value) for path, value in find_old_settings(sections).items()}
    added_urls = read_state(data_dir / ADDED_SITES_FILE).get("added", ()) if data_dir else ()
    rendered_hosts = read_state(data_dir / RENDERED_HOSTS_FILE).get("hosts", ()) if data_dir else ()
    if not old and not added_urls and not rendered_hosts:
        return dict(sections)
    Sites.parse(sections.get("sites", ()))
    new_sections = {name: dict(value) if isinstance(value, Mapping) else value for name, value in sections.items()}
    for section, _, key in (path.partition(".") for path in old):
        del new_sections[section][key]
    replaced_keys = {OLD_SITE_SETTINGS[path] for path in old}
    tables = {
        table_host(table): {key: value for key, value in table.items() if key not in replaced_keys}
        for table in sections.get("sites", ())
    }
    rendered = list(old.get("crawl.rendered", ()))
    if RENDER_AUTOMATICALLY in rendered:
        new_sections["crawl"]["rendered"] = RENDER_AUTOMATICALLY
    if new_sections.get("crawl", {}).get("rendered") == RENDER_AUTOMATICALLY:
        rendered += rendered_hosts
    has_scope = any("scope" in table for table in tables.values())
    for url in old.get("crawl.seeds", ()):
        if not url_host(url):
            raise SettingsError(f"crawl.seeds: {url[:200]!r} is not an http or https URL")
        tables.setdefault(url_host(url), {"scope": []} if has_scope else {}).setdefault("urls", []).append(url)
    scope = old.get("crawl.scope", ())
    set_scope(tables, scope)
    for url in added_urls:
        table = tables.setdefault(url_host(url), {"scope": [url_host(url)]} if scope else {})
        table["urls"] = list(dict.fromkeys([*table.get("urls", ()), url]))
    old["crawl.rendered"] = [text for text in rendered if text != RENDER_AUTOMATICALLY]
    for path, host, value in iter_values(old):
        set_value(tables.setdefault(host, {}), OLD_SITE_SETTINGS[path], value)
    new_sections["sites"] = [
        table if table.get("urls") else {"host": host, **table} for host, table in tables.items() if table
    ]
    return new_sections


def parse_value(path: str, value: Any) -> Any:
    """Return an old setting as a table or tuple of texts; in the environment it is one text. Raises SettingsError."""
    if path not in ("search.site_names", "schedule.sites"):
        return validate_container(path, split_list(value, path), tuple[str, ...])
    table = parse_json(path, value, Mapping[str, str]) if isinstance(value, str) else value
    return validate_container(path, table, Mapping[str, str])


def check_old_files(data_dir: Path) -> None:
    """Raise SettingsError if the added sites cannot be read: a new settings file would not have them."""
    file = data_dir / ADDED_SITES_FILE
    try:
        parse_state(file.read_bytes() if file.exists() else b"{}")
    except (OSError, ValueError) as error:
        raise SettingsError(f"{file} is damaged: run `plumb check --repair`, or delete it") from error


def retire_old_files(data_dir: Path) -> None:
    """Rename the old files, which the settings file has replaced. Raises OSError."""
    for name in (ADDED_SITES_FILE, RENDERED_HOSTS_FILE):
        if (data_dir / name).exists():
            (data_dir / name).replace(data_dir / f"{name}.before-upgrade")


def set_scope(tables: Tables, lines: Iterable[str]) -> None:
    """Give each line of the scope to the table of its host. Without a line, nothing of a host is allowed."""
    for line in lines:
        for table in tables.values():
            table.setdefault("scope", [])
        scope = parse_scope(line)
        if scope is None:
            raise SettingsError(f"crawl.scope: {line[:200]!r} is not a host with an optional path prefix (a.com/news)")
        name = f"*.{scope.host}" if scope.includes_subdomains else str(scope.host)
        tables.setdefault(name, {}).setdefault("scope", []).append(line)


def iter_values(old: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield path, host and value of the lines and tables of the old settings. Raises SettingsError."""
    for path, value in old.items():
        if isinstance(value, Mapping):
            pairs = [(host, text) for names, text in value.items() for host in names.replace(",", " ").split()]
        else:
            lines = [] if path in ("crawl.seeds", "crawl.scope") else value
            pairs = [(host, text.strip()) for host, _, text in (line.strip().partition(" ") for line in lines)]
        needs_value = path not in ("crawl.paused_sites", "crawl.rendered")
        values = []
        for number, (text, host_value) in enumerate(pairs, 1):
            host = canonical_host(text)
            is_unused = not host or host.startswith("*") or not host_value
            if is_unused and path in ("search.site_names", "store.keep_days_by_site"):
                log.warning("%s, line %d has never had an effect: it is left out", path, number)
                continue
            if not host or (needs_value and not host_value):
                raise SettingsError(f"{path}, line {number}: expected a host such as a.example.com, and its value")
            values.append((host, host_value))
        yield from ((path, *pair) for index, pair in enumerate(values) if not is_replaced(path, values, index))


def is_replaced(path: str, values: Sequence[tuple[str, str]], index: int) -> bool:
    """True if another line for the same host counts: of a header that is the last one, of proxies the first."""
    host, text = values[index]
    competing_lines = {"crawl.proxies": values[:index], "crawl.headers": values[index + 1 :]}.get(path, ())
    name = text.partition(":")[0] if path == "crawl.headers" else ""
    return any(
        name in ("", other.partition(":")[0]) and Site(covering).covers(host) for covering, other in competing_lines
    )


def set_value(table: dict[str, Any], key: str, text: str) -> None:
    """Add a value of an old setting to a table. Text that is no number stays text, which is invalid."""
    if key in ("headers", "cookies"):
        table.setdefault(key, []).append(text)
    elif key in ("quiet_hours", "schedule"):
        if key == "schedule":
            text = " ".join(f"{time:%H:%M}" for time in parse_times_of_day(text, "schedule.sites"))
        table[key] = ", ".join(filter(None, (table.get(key), text)))
    elif key in ("delay", "keep_days"):
        number: Any = parse_number(text)
        table[key] = max(number, table.get(key, 0)) if key == "delay" and number != text else number
    else:
        table.setdefault(key, True if key in ("paused", "render") else text)
