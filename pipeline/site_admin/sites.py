"""Sites as an operator adds, changes, pauses and removes them: lines of the settings file, and rows of the store."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from crawler.crawl_plan import build_crawl_plan
from crawler.host_suggestions import add_site, load_added_seeds, load_host_suggestions, remove_site, with_added_sites
from crawler.http.site_options import parse_paused_hosts
from crawler.settings import CrawlSettings
from crawler.urls.canonical import UrlRules, canonicalize_url, host_of, parse_scope
from docstore.site_pages import REMOVE_ACTION
from domain.administration import PendingAction, SiteContents
from domain.errors import SettingsError
from domain.outcome import Reason
from pipeline.engine import Engine
from pipeline.settings import Settings, build_section
from pipeline.settings_source import Sections, SettingsEdit, stored_value
from pipeline.settings_text import Changes
from pipeline.site_admin.site_options import (
    SETTING_BY_KIND,
    lines_with,
    lines_without,
    list_options,
    names_host,
    parse_option,
)
from search_ui.admin.interfaces.sites import SiteEdit, SiteOption, SiteOptionKind, SiteSettings, SuggestedSite
from search_ui.settings import SearchSettings

ADD_ACTION, CHANGE_ACTION = "site_add", "site_change"  # codes of actions
PAUSE_ACTION, RESUME_ACTION = "site_pause", "site_resume"
SET_OPTION_ACTION, REMOVE_OPTION_ACTION = "site_option_set", "site_option_remove"


class StoreSites:
    """Implements `search_ui.admin.interfaces.sites.SiteService` on the settings file and the store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._store = engine.store

    def load(self, host: str) -> SiteSettings:
        """Return what the settings file says about a host now."""
        settings = self._current_settings()
        crawl = settings.crawl
        return SiteSettings(
            host,
            settings.search.site_names.get(host, ""),
            next((line.split()[1] for line in crawl.site_delays if names_host(line, host)), ""),
            tuple(line for line in crawl.scope if names_host(line, host)),
            tuple(seed for seed in crawl.seeds if seed_host(seed) == host),
            host in parse_paused_hosts(crawl),
            any(scope.covers(host, scope.path_prefix) for scope in self._url_rules(crawl).scopes),
            ", ".join(line.split(maxsplit=1)[1] for line in crawl.site_quiet_hours if names_host(line, host)),
            list_options(crawl, host),
        )

    def suggestions(self, limit: int) -> Sequence[SuggestedSite]:
        """Return the best suggested hosts that the scope does not contain."""
        folder = self._engine.settings.data_dir
        rules = self._url_rules(self._current_settings().crawl)
        rows = [row for row in load_host_suggestions(folder) if not rules.covers(row.host, "/")]
        return [SuggestedSite(row.host, row.linking_pages, row.linking_hosts, row.example_url) for row in rows[:limit]]

    def count_contents(self, host: str) -> SiteContents:
        """Return the counts of the store."""
        return self._store.site_pages.count(host)

    def add(self, url: str, account: str) -> str:
        """Add a start URL, and its host to `crawl.scope` if that is set. URLs of an earlier removal are due again."""
        seed = canonicalize_url(url if "://" in url else f"https://{url}")
        if isinstance(seed, Reason):
            raise SettingsError("“{entry}” is neither a host nor an http or https URL.", entry=url[:200])
        host = host_of(seed)

        def find_changes(settings: Settings) -> Changes:
            crawl = settings.crawl
            changes: dict[str, object | None] = {"crawl.seeds": list(dict.fromkeys((*crawl.seeds, seed)))}
            scopes = [scope for scope in map(parse_scope, crawl.scope) if scope is not None]
            if crawl.scope and not any(scope.covers(host, "/") for scope in scopes):
                changes["crawl.scope"] = [*crawl.scope, host]
            if host in crawl.paused_sites:
                changes["crawl.paused_sites"] = without(crawl.paused_sites, host)
            return changes

        self._change_file(find_changes, account, ADD_ACTION, host)
        self._store.site_pages.reopen(host)
        return host

    def pause(self, host: str, account: str) -> None:
        """Add a host to `crawl.paused_sites`."""

        def find_changes(settings: Settings) -> Changes:
            paused_hosts = settings.crawl.paused_sites
            return {} if host in paused_hosts else {"crawl.paused_sites": [*paused_hosts, host]}

        self._change_file(find_changes, account, PAUSE_ACTION, host)

    def resume(self, host: str, account: str) -> None:
        """Remove a host from `crawl.paused_sites`."""

        def find_changes(settings: Settings) -> Changes:
            paused_hosts = settings.crawl.paused_sites
            return {"crawl.paused_sites": without(paused_hosts, host)} if host in paused_hosts else {}

        self._change_file(find_changes, account, RESUME_ACTION, host)

    def change(self, host: str, edit: SiteEdit, account: str) -> None:
        """Replace the lines of a host in the settings."""
        if foreign := [line for line in edit.scopes if not names_host(line, host)]:
            raise SettingsError("“{entry}” is not a part of {host}.", entry=foreign[0][:200], host=host)
        if foreign := [seed for seed in edit.seeds if seed_host(seed) != host]:
            raise SettingsError("“{entry}” is not a URL of {host}.", entry=foreign[0][:200], host=host)
        self._change_file(lambda settings: self._site_changes(settings, host, edit), account, CHANGE_ACTION, host)

    def _site_changes(self, settings: Settings, host: str, edit: SiteEdit) -> Changes:
        """Return the changes of the settings that replace the lines of a host."""
        crawl, names = settings.crawl, dict(settings.search.site_names)
        names.pop(host, None)
        if edit.display_name:
            names[host] = edit.display_name
        delays = [line for line in crawl.site_delays if not names_host(line, host)]
        if edit.delay:
            delays.append(f"{host} {edit.delay}")
        quiet_hours = [line for line in crawl.site_quiet_hours if not names_host(line, host)]
        quiet_hours += [f"{host} {hours.strip()}" for hours in edit.quiet_hours.split(",") if hours.strip()]
        scope = replace_lines(crawl.scope, [line for line in crawl.scope if names_host(line, host)], edit.scopes)
        if edit.scopes and not crawl.scope:  # until now, the hosts of all seeds
            scope = [item.host for item in self._url_rules(crawl).scopes if item.host != host] + scope
        own_seeds = [seed for seed in crawl.seeds if seed_host(seed) == host]
        changes: dict[str, object | None] = {
            "search.site_names": names or None,
            "crawl.site_delays": delays or None,
            "crawl.site_quiet_hours": quiet_hours or None,
            "crawl.scope": scope or None,
            "crawl.seeds": replace_lines(crawl.seeds, own_seeds, edit.seeds),
        }
        return changes

    def set_option(self, host: str, kind: SiteOptionKind, text: str, account: str) -> None:
        """Write a header, cookies or a proxy of a host to the settings file; see `SiteService.set_option`."""
        path = f"crawl.{SETTING_BY_KIND[kind]}"

        def find_changes(settings: Settings) -> Changes:
            return {path: lines_with(read_setting(settings, path), host, kind, text)}

        option = parse_option(kind, f"{host} {text}")
        self._update_file(find_changes, lambda _: [self._option_action(SET_OPTION_ACTION, host, option, account)])

    def remove_option(self, host: str, option: SiteOption, account: str) -> None:
        """Remove a header, cookies or a proxy of a host from the settings file."""
        path = f"crawl.{SETTING_BY_KIND[option.kind]}"

        def find_changes(settings: Settings) -> Changes:
            lines = read_setting(settings, path)
            other_lines = lines_without(lines, host, option)
            return {path: other_lines or None} if other_lines != lines else {}

        self._update_file(find_changes, lambda _: [self._option_action(REMOVE_OPTION_ACTION, host, option, account)])

    def _option_action(self, action: str, host: str, option: SiteOption, account: str) -> PendingAction:
        """Return the action of a changed option without its value, which may be secret."""
        details = {"option": f"crawl.{SETTING_BY_KIND[option.kind]}: {option.name}"}
        return self._store.actions.prepare(account, action, host, details)

    def recrawl(self, host: str, account: str) -> int:
        """Make the fetched URLs of a host due."""
        return self._store.site_pages.recrawl(host, account)

    def remove(self, host: str, account: str) -> SiteContents:
        """Remove the lines of a host, then its pages. A host that the scope still contains is paused."""
        check_other_seeds(self._current_settings(), host)
        with self._engine.lock("crawl"):
            folder = self._engine.settings.data_dir
            added_seeds = [seed for seed in load_added_seeds(folder) if seed_host(seed) == host]
            remove_site(folder, host)
            details = {"added_seeds": added_seeds}
            pending = self._change_file(
                lambda settings: self._removal_changes(settings, host), account, REMOVE_ACTION, host, details
            ) or self._store.actions.prepare(account, REMOVE_ACTION, host, details)
            return self._store.site_pages.remove(host, pending)

    def undo_removal(
        self, host: str, changes: Mapping[str, Sequence[Sequence[str]]], added_seeds: Sequence[str], account: str
    ) -> bool:
        """Add the lines that the removal of a host deleted, and make its URLs due. Other changes since then stay.

        Args:
            host: The host.
            changes: Lists of lines before and after the removal, by setting.
            added_seeds: Start URLs that `plumb sites add` had added.
            account: Name of the account.

        Returns:
            False if all lines are there already.
        """

        def find_changes(settings: Settings) -> Changes:
            merged_lines = {path: merge_lines(read_setting(settings, path), *lines) for path, lines in changes.items()}
            return {
                path: lines or None for path, lines in merged_lines.items() if lines != read_setting(settings, path)
            }

        folder = self._engine.settings.data_dir
        missing_seeds = [seed for seed in added_seeds if seed not in load_added_seeds(folder)]
        is_changed = self._change_file(find_changes, account, ADD_ACTION, host) is not None
        for seed in missing_seeds:
            add_site(folder, seed)
        self._store.site_pages.reopen(host)
        if missing_seeds and not is_changed:
            self._store.actions.record(account, ADD_ACTION, host)
        return is_changed or bool(missing_seeds)

    def _removal_changes(self, settings: Settings, host: str) -> Changes:
        """Return the changes of the settings that remove the lines of a host, or pause it. Raises SettingsError."""
        crawl, seeds = settings.crawl, check_other_seeds(settings, host)
        scope = [line for line in crawl.scope if not names_host(line, host)]
        delays = [line for line in crawl.site_delays if not names_host(line, host)]
        quiet_hours = [line for line in crawl.site_quiet_hours if not names_host(line, host)]
        rules = self._url_rules(replace(crawl, seeds=tuple(seeds), scope=tuple(scope)))
        is_still_covered = any(item.covers(host, item.path_prefix) for item in rules.scopes)
        paused_hosts = [*without(crawl.paused_sites, host), *([host] if is_still_covered else [])]
        return {
            "crawl.seeds": seeds,
            "crawl.scope": scope or None,
            "crawl.site_delays": delays or None,
            "crawl.site_quiet_hours": quiet_hours or None,
            "crawl.paused_sites": paused_hosts or None,
        }

    def _url_rules(self, crawl: CrawlSettings) -> UrlRules:
        """Return the rules of a crawl with these settings. Raises SettingsError."""
        return build_crawl_plan(with_added_sites(crawl, self._engine.settings.data_dir)).url_rules

    def _current_settings(self) -> Settings:
        """Return the settings as the file states them now. Raises SettingsError."""
        return self._engine.settings.require_source().load()

    def _update_file(
        self, find_changes: Callable[[Settings], Changes], describe: Callable[[SettingsEdit], Sequence[PendingAction]]
    ) -> None:
        """Change settings; see `SettingsSource.edit`. `find_changes` receives those of the file alone."""
        source = self._engine.settings.require_source()
        source.edit(
            lambda sections: find_changes(settings_of_file(sections, source.file.parent)), self._store.actions, describe
        )

    def _change_file(
        self,
        find_changes: Callable[[Settings], Changes],
        account: str,
        action: str,
        host: str,
        more_details: Mapping[str, object] | None = None,
    ) -> PendingAction | None:
        """Change settings and record the values before and after; returns the action, None without changes.

        Raises SettingsError if the crawl would reject the new settings.
        """
        pending: list[PendingAction] = []

        def describe(edit: SettingsEdit) -> list[PendingAction]:
            items = edit.changes.items()
            changes = {path: [stored_value(edit.before, path) or [], value or []] for path, value in items}
            details = {"changes": changes, **(more_details or {})}
            pending[:] = [self._store.actions.prepare(account, action, host, details)]
            return pending

        self._update_file(find_changes, describe)
        return next(iter(pending), None)


def settings_of_file(sections: Sections, folder: Path) -> Settings:
    """Return the settings of the file without those of the environment and the flags. Raises SettingsError."""
    crawl = build_section(CrawlSettings, sections.get("crawl", {}), "crawl")
    return Settings(folder, crawl=crawl, search=build_section(SearchSettings, sections.get("search", {}), "search"))


def check_other_seeds(settings: Settings, host: str) -> list[str]:
    """Return the seeds of all other hosts. Raises SettingsError if there are none."""
    seeds = [seed for seed in settings.crawl.seeds if seed_host(seed) != host]
    if not seeds:
        raise SettingsError("{host} has the only start URLs. Add another site before you remove it.", host=host)
    return seeds


def seed_host(text: str) -> str:
    """Return the host of a line of `crawl.seeds`; "" if it is not a URL."""
    url = canonicalize_url(text if "://" in text else f"http://{text}")
    return "" if isinstance(url, Reason) else host_of(url)


def replace_lines(lines: Sequence[str], old_lines: Sequence[str], new_lines: Sequence[str]) -> list[str]:
    """Return `lines` with `new_lines` in the place of the first of `old_lines`, or at the end if there is none."""
    index = next((number for number, line in enumerate(lines) if line in old_lines), len(lines))
    return [*lines[:index], *new_lines, *(line for line in lines[index:] if line not in old_lines)]


def merge_lines(lines: Sequence[str], old_lines: Sequence[str], new_lines: Sequence[str]) -> list[str]:
    """Return `lines` with the reverse of a change from `old_lines` to `new_lines`."""
    deleted_lines = [line for line in old_lines if line not in new_lines and line not in lines]
    added_lines = [line for line in new_lines if line not in old_lines]
    return [*(line for line in lines if line not in added_lines), *deleted_lines]


def without(hosts: Sequence[str], host: str) -> list[str]:
    """Return a list without a host."""
    return [item for item in hosts if item != host]


def read_setting(settings: Settings, path: str) -> Any:
    """Return the value of a setting such as `crawl.scope` as a JSON value."""
    section, _, name = path.partition(".")
    value = getattr(getattr(settings, section), name)
    return list(value) if isinstance(value, tuple) else value
