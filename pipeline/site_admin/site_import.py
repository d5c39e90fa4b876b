"""Add the sites of a file to the settings file of a vertical."""

from collections.abc import Iterator

from crawler.crawl_plan import is_example_site
from crawler.site import Sites, table_host
from crawler.urls.canonical import split_host_port
from pipeline.settings import SITES
from pipeline.settings_source import Sections, SettingsSource
from pipeline.settings_text import Changes
from pipeline.site_admin.site_lists import SiteList
from pipeline.site_tables import add_urls


def import_sites(source: SettingsSource, sites: SiteList, is_preview: bool = False) -> Iterator[str]:
    """Add start URLs to a settings file, and yield lines about what was added and what was not imported.

    Args:
        source: The settings of the vertical.
        sites: The sites of another file.
        is_preview: Only say what would change.

    Raises SettingsError if the file cannot be changed, or a crawl would reject the new settings.
    """
    edit = source.edit(lambda sections: find_site_changes(sections, sites), is_preview=is_preview)
    old_urls = Sites.parse(edit.before.get(SITES, ())).seeds
    added = [url for url in Sites.parse(edit.after.get(SITES, ())).seeds if url not in old_urls]
    verb = "would add" if is_preview else "added"
    yield f"{verb} {len(added)} start URLs{':' * bool(added)} {', '.join(added)}".rstrip()
    yield from (f"not imported: {note}" for note in sites.notes)


def find_site_changes(sections: Sections, sites: SiteList) -> Changes:
    """Return the changes of the file. The site of the sample file is removed. Pure."""
    if not sites.seeds:
        return {}
    tables = sections.get(SITES, [])
    own_tables = [table for table in tables if not is_example_site(split_host_port(table_host(table))[0])]
    changes = {SITES: own_tables} if own_tables != tables else {}
    return {**changes, **add_urls({**sections, **changes}, sites.seeds)}
