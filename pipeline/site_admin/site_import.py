"""Add the sites of a file to the settings file of a vertical."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from crawler.crawl_plan import is_example_site
from crawler.site import Sites, table_host
from crawler.urls.canonical import host_of, split_host_port
from domain.errors import PlumblineError
from pipeline.settings import SITES, Settings
from pipeline.settings_source import Sections
from pipeline.settings_text import Changes
from pipeline.site_admin.site_check import REFUSAL_ADVICE, check_sites, describe_check
from pipeline.site_admin.site_lists import SiteList
from pipeline.site_tables import add_urls


def import_sites(
    settings: Settings, sites: SiteList, is_preview: bool = False, is_forced: bool = False, is_own_network: bool = False
) -> Iterator[str]:
    """Check sites and add their start URLs to the settings file. Yields lines about each site and the result.

    Args:
        settings: The settings of the vertical.
        sites: The new sites.
        is_preview: Only say what would change, without a check.
        is_forced: Add the sites without a check.
        is_own_network: Allow their hosts on private networks.

    Raises SettingsError if the file cannot be changed, or a crawl would reject the new settings; then nothing is added.
    At the end, PlumblineError if sites were left out for their problems.
    """
    urls, refused_count, inside_hosts = sites.seeds, 0, map(host_of, sites.seeds) if is_own_network else ()
    inside_hosts = tuple(dict.fromkeys((*settings.crawl.inside_hosts, *inside_hosts)))
    if not (is_forced or is_preview):
        checks = check_sites(urls, replace(settings, crawl=replace(settings.crawl, inside_hosts=inside_hosts)))
        yield from map(describe_check, checks)
        urls = tuple(check.seed_url for check in checks if check.is_usable)
        refused_count = len(checks) - len(urls)

    def find_changes(sections: Sections) -> Changes:
        own_hosts = {"crawl.inside_hosts": inside_hosts} if is_own_network and urls else {}
        return {**find_site_changes(sections, urls), **own_hosts}

    edit = settings.require_source().edit(find_changes, is_preview=is_preview, site_keys=("urls",))
    old_urls = Sites.parse(edit.before.get(SITES, ())).seeds
    added = [url for url in Sites.parse(edit.after.get(SITES, ())).seeds if url not in old_urls]
    verb = "would add" if is_preview else "added"
    yield f"{verb} {len(added)} lines to crawl.seeds (urls in [[sites]]){':' * bool(added)} {', '.join(added)}".rstrip()
    yield from (f"not imported: {note}" for note in sites.notes)
    if refused_count:
        raise PlumblineError(f"sites not added: {refused_count}; {REFUSAL_ADVICE}")


def find_site_changes(sections: Sections, urls: Sequence[str]) -> Changes:
    """Return the changes of the file that add start URLs. The site of the sample file is removed. Pure."""
    if not urls:
        return {}
    tables = sections.get(SITES, [])
    own_tables = [table for table in tables if not is_example_site(split_host_port(table_host(table))[0])]
    changes = {SITES: own_tables} if own_tables != tables else {}
    return {**changes, **add_urls({**sections, **changes}, urls)}
