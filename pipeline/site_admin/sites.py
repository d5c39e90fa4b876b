"""Sites as an operator adds, changes, pauses and removes them: tables of the settings file, and rows of the store."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from crawler.host_suggestions import load_host_suggestions
from crawler.http.login_secrets import read_secrets, save_secret
from crawler.site import canonical_host
from crawler.urls.canonical import UrlRules, host_of
from docstore.site_pages import REMOVE_ACTION
from domain.administration import HostSuggestion, PendingAction, SiteContents
from domain.message import Message
from domain.outcome import Reason
from domain.site_check import SiteCheck
from pipeline.engine import Engine
from pipeline.settings import SITES
from pipeline.settings_source import Sections, SettingsEdit, SettingsSource
from pipeline.settings_text import Changes
from pipeline.site_admin.settings_editor import form_text
from pipeline.site_admin.site_check import check_site
from pipeline.site_tables import (
    add_urls,
    change_tables,
    changed_values,
    find_table,
    parse_form,
    parse_start_url,
    remove_site,
)
from search_ui.admin.site_form import SITE_FORM_KEYS, SiteOption, SiteOptionKind, SiteSettings

ADD_ACTION, CHANGE_ACTION = "site_add", "site_change"  # codes of actions
PAUSE_ACTION, RESUME_ACTION = "site_pause", "site_resume"
SET_OPTION_ACTION, REMOVE_OPTION_ACTION = "site_option_set", "site_option_remove"
KEY_BY_KIND: Mapping[SiteOptionKind, str] = {
    SiteOptionKind.HEADER: "headers",
    SiteOptionKind.COOKIE: "cookies",
    SiteOptionKind.PROXY: "proxy",
}


class StoreSites:
    """Reads and changes sites in the settings file and in the store. Changes take effect with the next run.

    They are recorded, and raise SettingsError if a value is invalid or the file cannot be changed, and
    SettingsConflictError if somebody else has changed it at the same moment.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._store = engine.store

    def find_host(self, text: str) -> str:
        """Return the canonical host; "" if it has no table and no URLs, except those of a removed site."""
        host = canonical_host(text)
        is_known = host in self._engine.settings.current().crawl.sites.by_host
        return host if is_known or self._store.status.find_site_totals(host) is not None else ""

    def load(self, host: str) -> SiteSettings:
        """Return what the settings file says about a host now."""
        table, sites = (
            find_table({SITES: self._source().stored(SITES) or ()}, host),
            self._engine.settings.current().crawl.sites,
        )
        options = [parse_option(kind, text) for kind, key in KEY_BY_KIND.items() for text in read_values(table, key)]
        values = {key: form_text(table.get(key)) for key in SITE_FORM_KEYS}
        is_crawled = any(scope.covers(host, scope.path_prefix) for scope in sites.scopes)
        return SiteSettings(host, values, sites.for_host(host).paused, is_crawled, options)

    def suggestions(self, limit: int) -> Sequence[HostSuggestion]:
        """Return the best suggested hosts that the scope does not contain."""
        rules = UrlRules(self._engine.settings.current().crawl.sites.scopes)
        rows = [row for row in load_host_suggestions(self._engine.settings.data_dir) if not rules.covers(row.host, "/")]
        return rows[:limit]

    def check(self, url: str) -> SiteCheck:
        """Check the site of a start URL. Raises SettingsError if it is no URL."""
        check = check_site(parse_start_url(url), self._engine.settings.current())
        if check.problem == Reason.PRIVATE_ADDRESS:
            file = shlex.quote(str(self._source().file))
            command = f"plumb -c {file} sites add {shlex.quote(check.url)} --own-network"
            check = replace(check, detail=Message("to allow it, run {command} on the server", command=command))
        return check

    def add(self, url: str, account: str) -> str:
        """Add a start URL, and its host to the scope. URLs of an earlier removal are due again. Returns the host."""
        seed = parse_start_url(url)
        self._edit(lambda sections: add_urls(sections, [seed]), account, ADD_ACTION, host_of(seed), ("urls",))
        self._store.site_pages.reopen(host_of(seed))
        return host_of(seed)

    def pause(self, host: str, account: str) -> None:
        """Leave a host out of the crawl."""
        self._edit_paused(host, True, account, PAUSE_ACTION)

    def resume(self, host: str, account: str) -> None:
        """Crawl a paused host again."""
        self._edit_paused(host, None, account, RESUME_ACTION)

    def _edit_paused(self, host: str, value: bool | None, account: str, action: str) -> None:
        self._edit(
            lambda sections: change_tables(sections, {host: {"paused": value}}), account, action, host, ("paused",)
        )

    def change(self, host: str, values: Mapping[str, str], account: str, action: str = CHANGE_ACTION) -> None:
        """Change the values of the form that differ from the file. Raises SiteError with the problem of each."""

        def find_changes(sections: Sections) -> Changes:
            table = find_table(sections, host)
            stored_values = parse_form({key: form_text(table.get(key)) for key in values})
            new_values = {key: value for key, value in parse_form(values).items() if value != stored_values[key]}
            return change_tables(sections, {host: new_values})

        self._edit(find_changes, account, action, host)

    def set_option(self, host: str, kind: SiteOptionKind, text: str, account: str) -> None:
        """Send a header (`Name: value`) or cookies (`name=value; name=value`) to a host, or use a proxy (its URL).

        Replaces the header of this name, the cookies of these names, or the proxy.
        """
        self._edit_option(host, parse_option(kind, text), text, account, SET_OPTION_ACTION)

    def remove_option(self, host: str, option: SiteOption, account: str) -> None:
        """Remove a header, cookies or a proxy of a host. Without them, nothing changes."""
        self._edit_option(host, option, "", account, REMOVE_OPTION_ACTION)

    def _edit_option(self, host: str, option: SiteOption, text: str, account: str, action: str) -> None:
        """Replace an option by a value, or by "". Records its name without its value, which may be secret."""
        key, details = KEY_BY_KIND[option.kind], {"option": f"{KEY_BY_KIND[option.kind]}: {option.name}"}

        def find_changes(sections: Sections) -> Changes:
            table = find_table(sections, host)
            names = [(value, parse_option(option.kind, value)) for value in read_values(table, key)]
            kept_values = [value for value, other in names if other.name.lower() != option.name.lower()]
            values = [*kept_values, *([text] if text else [])] if key != "proxy" else text or "".join(kept_values)
            return change_tables(sections, {host: {key: values}})

        self._edit(find_changes, account, action, host, (key,), details)

    def recrawl(self, host: str, account: str) -> int:
        """Make the fetched URLs of a host due. Returns their number."""
        return self._store.site_pages.recrawl(host, account)

    def remove(self, host: str, account: str) -> SiteContents:
        """Remove the pages of a host, then its table; returns what was removed. Raises BusyError during a crawl.

        A host that the scope still contains is paused. A removal that was killed can be repeated.
        """
        edit = partial(self._source().edit, lambda sections: remove_site(sections, host), site_keys=("urls", "scope"))
        with self._engine.lock("crawl"):
            self._source().check_writable()
            read_secrets(self._engine.settings.folder)  # a broken file stops the removal before it begins
            preview = edit(is_preview=True)
            details = {"changes": changed_values(preview.before, preview.after, host)} if preview.changes else {}
            pending = self._store.operations.prepare(account, REMOVE_ACTION, host, details)
            contents = self._store.site_pages.remove(host, pending)
            edit()
            save_secret(self._engine.settings.folder, host, "")
            return contents

    def undo_edit(self, host: str, changes: Mapping[str, Sequence[Any]], account: str, action: str) -> bool:
        """Give keys of a table their values before an edit, and make removed URLs due.

        Returns False if one of them has another value now.
        """

        def find_changes(sections: Sections) -> Changes:
            table = find_table(sections, host)
            if any(table.get(key) != after for key, (_, after) in changes.items()):
                return {}
            return change_tables(sections, {host: {key: before for key, (before, _) in changes.items()}})

        is_changed = self._edit(find_changes, account, action, host, tuple(changes))
        if is_changed:
            self._store.site_pages.reopen(host)
        return is_changed

    def _source(self) -> SettingsSource:
        return self._engine.settings.require_source()

    def _edit(
        self,
        find_changes: Callable[[Sections], Changes],
        account: str,
        action: str,
        host: str,
        keys: Sequence[str] = (),
        details: Mapping[str, object] | None = None,
    ) -> bool:
        """Change tables, of which `keys` must count, and record it, by default the values of the host before and after.

        Returns False without changes.
        """

        def describe(edit: SettingsEdit) -> list[PendingAction]:
            values = details or {"changes": changed_values(edit.before, edit.after, host)}
            return [self._store.operations.prepare(account, action, host, values)]

        return bool(self._source().edit(find_changes, self._store.operations, describe, site_keys=keys).changes)


def read_values(table: Mapping[str, Any], key: str) -> list[str]:
    """Return the headers, cookies or the proxy of a table as a list."""
    value = table.get(key) or []
    return [value] if isinstance(value, str) else value


def parse_option(kind: SiteOptionKind, text: str) -> SiteOption:
    """Return what a header, cookies or a proxy names, without the value."""
    if kind is SiteOptionKind.HEADER:
        return SiteOption(kind, text.partition(":")[0])
    if kind is SiteOptionKind.COOKIE:
        return SiteOption(kind, ", ".join(part.partition("=")[0].strip() for part in text.split(";") if "=" in part))
    scheme, _, address = text.partition("://")
    return SiteOption(kind, f"{scheme}://{address.rpartition('@')[2]}")
