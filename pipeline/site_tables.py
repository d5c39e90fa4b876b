"""Changes of the tables [[sites]], from the sections of the settings file to values for its edit. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from crawler.site import SECRET_KEYS, Sites, add_scheme, parse_site, table_host
from crawler.urls.canonical import UrlRules, canonicalize_url, host_of, rejection_reason
from domain.errors import SettingsError
from domain.login import SiteReaders
from domain.outcome import Reason
from pipeline.settings import SITES, parse_number
from pipeline.settings_source import Sections
from pipeline.settings_text import Changes


def parse_start_url(text: str) -> str:
    """Return the canonical form of a URL or host. Raises SettingsError for other text."""
    url = canonicalize_url(add_scheme(text))
    if isinstance(url, Reason):
        raise SettingsError("“{entry}” is neither a host nor an http or https URL.", entry=text[:200])
    return url


def find_table(sections: Sections, host: str) -> dict[str, Any]:
    """Return the table of a host; empty if it has none."""
    return next((dict(table) for table in sections.get(SITES, ()) if table_host(table) == host), {})


def change_tables(sections: Sections, values_by_host: Mapping[str, Mapping[str, Any]]) -> Changes:
    """Return the changes that give keys of the tables of some hosts new values.

    A value that is the default removes its key, and a table without values is removed. Without its login, a site keeps
    the readers that it had by default. Returns no changes if nothing changes. Raises SiteError.
    """
    old_tables = list(sections.get(SITES, ()))
    tables = {table_host(table): dict(table) for table in old_tables}
    for host, values in values_by_host.items():
        merged_table = {**tables.get(host, {}), **values}
        if tables.get(host, {}).get("login") and not merged_table.get("login"):
            merged_table["readers"] = merged_table.get("readers") or SiteReaders.SIGNED_IN.value
        table = {key: value for key, value in merged_table.items() if not is_default(key, value)}
        parse_site({"host": host, **table})  # its start URLs must not be those of another host
        tables[host] = table if table.get("urls") else {"host": host, **table}
    new_tables = [table for table in tables.values() if table.keys() != {"host"}]
    return {SITES: new_tables} if new_tables != old_tables else {}


def is_default(key: str, value: Any) -> bool:
    """True if a value needs no line in the file. An empty scope is a value: nothing is allowed."""
    return value is None or value is False or value == "" or (value == [] and key != "scope")


def add_urls(sections: Sections, urls: Sequence[str]) -> Changes:
    """Return the changes that add start URLs, which are canonical, and resume their sites. Raises SettingsError."""
    tables = {table_host(table): table for table in sections.get(SITES, ())}
    urls_by_host: dict[str, list[str]] = {}
    for url in urls:
        own_urls = tables.get(host_of(url), {}).get("urls", ())
        urls_by_host.setdefault(host_of(url), list(own_urls)).append(url)
    values = {host: {"urls": list(dict.fromkeys(urls)), "paused": None} for host, urls in urls_by_host.items()}
    new_sections = {**sections, **change_tables(sections, values)}
    rules = UrlRules(Sites.parse(new_sections.get(SITES, ())).scopes)
    outside = dict.fromkeys(host_of(url) for url in urls if rejection_reason(url, rules) is Reason.OUT_OF_SCOPE)
    scopes: dict[str, dict[str, Any]] = {
        host: {"scope": [*tables.get(host, {}).get("scope", ()), host]} for host in outside
    }
    new_sections = {**new_sections, **change_tables(new_sections, scopes)}
    return {SITES: new_sections[SITES]} if new_sections != sections else {}


def remove_site(sections: Sections, host: str) -> Changes:
    """Return the changes that remove a site. A host that the scope still contains is paused.

    Raises SettingsError if no other site has a start URL.
    """
    tables = {table_host(table): table for table in sections.get(SITES, ())}
    other_tables = [table for table in tables.values() if table_host(table) != host]
    if not any(table.get("urls") for table in other_tables):
        raise SettingsError("{host} has the only start URLs. Add another site before you remove it.", host=host)
    if any(scope.covers(host, scope.path_prefix) for scope in Sites.parse(other_tables).scopes):
        other_tables = list({**tables, host: {"host": host, "paused": True}}.values())
    return {SITES: other_tables} if other_tables != sections.get(SITES) else {}


def changed_values(before: Sections, after: Sections, host: str) -> dict[str, list[Any]]:
    """Return the values of a host before and after, by key, without secret ones. None: not set."""
    old, new = find_table(before, host), find_table(after, host)
    keys = [key for key in (old | new) if key not in ("host", *SECRET_KEYS)]
    return {key: [old.get(key), new.get(key)] for key in keys if old.get(key) != new.get(key)}


def parse_form(values: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of keys from the texts of a form. Text that is no number stays text, which is invalid then."""
    form_values: dict[str, Any] = {key: text.strip() for key, text in values.items()}
    for key in form_values.keys() & {"urls", "scope", "login_fields"}:
        form_values[key] = list(filter(None, map(str.strip, form_values[key].splitlines()))) or None
    for key in form_values.keys() & {"delay", "keep_days"}:
        form_values[key] = parse_number(form_values[key])
    return {**form_values, "render": form_values["render"] == "true"} if "render" in form_values else form_values
