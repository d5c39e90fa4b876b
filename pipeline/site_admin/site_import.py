"""Add the sites of a file to the settings file of a vertical."""

from collections.abc import Iterator

from crawler.crawl_plan import build_crawl_plan, is_example_site
from crawler.settings import CrawlSettings
from crawler.urls.canonical import UrlRules, host_of, parse_scope, split_host_port
from pipeline.settings import Settings
from pipeline.site_admin.settings_file import Changes, SettingsFile
from pipeline.site_admin.site_list import SiteList


def import_sites(file: SettingsFile, sites: SiteList, is_preview: bool = False) -> Iterator[str]:
    """Add seeds and scopes to a settings file, and yield lines about what was added and what was not imported.

    Args:
        file: The settings file of the vertical.
        sites: The sites of another file.
        is_preview: Only say what would change.

    Raises SettingsError if the file cannot be changed, or a crawl would reject the new settings.
    """

    def find_changes(settings: Settings) -> Changes:
        return find_site_changes(settings.crawl, sites)

    if is_preview:
        before = file.check(file.read().text)
        changes = find_changes(before)
    else:
        before, _, changes, _ = file.update(find_changes, lambda settings: build_crawl_plan(settings.crawl))
    verb = "would add" if is_preview else "added"
    for name, old_values in ("seeds", before.crawl.seeds), ("scope", before.crawl.scope):
        new_values = changes.get(f"crawl.{name}") or []
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
