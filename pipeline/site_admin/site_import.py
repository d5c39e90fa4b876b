"""Add the sites of a file to the settings file of a vertical."""

from collections.abc import Iterator

from crawler.crawl_plan import is_example_site
from crawler.settings import CrawlSettings
from crawler.urls.canonical import UrlRules, host_of, parse_scope, split_host_port
from pipeline.settings import build_section
from pipeline.settings_source import Sections, SettingsSource, stored_value
from pipeline.settings_text import Changes
from pipeline.site_admin.site_list import SiteList


def import_sites(source: SettingsSource, sites: SiteList, is_preview: bool = False) -> Iterator[str]:
    """Add seeds and scopes to a settings file, and yield lines about what was added and what was not imported.

    Args:
        source: The settings of the vertical.
        sites: The sites of another file.
        is_preview: Only say what would change.

    Raises SettingsError if the file cannot be changed, or a crawl would reject the new settings.
    """

    def find_changes(stored: Sections) -> Changes:
        return find_site_changes(build_section(CrawlSettings, stored.get("crawl", {}), "crawl"), sites)

    edit = source.edit(find_changes, is_preview=is_preview)
    verb = "would add" if is_preview else "added"
    for name in ("seeds", "scope"):
        old_values = stored_value(edit.before, f"crawl.{name}") or ()
        new_values = edit.changes.get(f"crawl.{name}") or []
        added = [value for value in new_values if value not in old_values] if isinstance(new_values, list) else []
        yield f"{verb} {len(added)} lines to crawl.{name}{':' * bool(added)} {', '.join(added)}".rstrip()
    yield from (f"not imported: {note}" for note in sites.notes)


def find_site_changes(crawl: CrawlSettings, sites: SiteList) -> Changes:
    """Return the settings that change. Pure.

    Without `crawl.scope`, the hosts of the seeds are the scope, and it is not written. Seeds of the sample file are
    removed.
    """
    changes: dict[str, object | None] = {}
    own_seeds = tuple(seed for seed in crawl.seeds if not is_sample(seed))
    seeds = list(dict.fromkeys((*own_seeds, *sites.seeds)))
    if seeds != list(crawl.seeds) and sites.seeds:
        changes["crawl.seeds"] = seeds
    rules = UrlRules(tuple(scope for scope in map(parse_scope, crawl.scope) if scope is not None))
    hosts = dict.fromkeys(map(host_of, sites.seeds))
    new_hosts = [host for host in hosts if not rules.covers(host, "/")]
    if crawl.scope and new_hosts:
        changes["crawl.scope"] = [*crawl.scope, *new_hosts]
    return changes


def is_sample(seed: str) -> bool:
    """True if a seed is that of the sample file."""
    scope = parse_scope(seed)
    return scope is not None and is_example_site(split_host_port(scope.host)[0])
