"""Decide which sites are rendered in a browser (`crawl.rendered = "auto"`), by the outcomes of their pages."""

from dataclasses import replace
from functools import partial

from crawler.settings import can_render_automatically
from domain.errors import SettingsError
from domain.page import Host
from pipeline.engine import Engine
from pipeline.site_tables import change_tables


def count_unrendered_pages(engine: Engine) -> dict[str, int]:
    """Return the number of pages that need JavaScript, of each host that needs it and is not rendered."""
    sites = engine.settings.crawl.sites
    counts = engine.store.status.javascript_page_counts()
    return {host: count for host, count in counts.items() if not sites.for_host(host).render}


def render_sites_automatically(engine: Engine) -> None:
    """Set `render` of the sites that need JavaScript in the settings file, if allowed, and fetch their pages again."""
    settings = engine.settings
    hosts = sorted(map(Host, count_unrendered_pages(engine)))
    if not hosts or not can_render_automatically(settings.crawl):
        return
    source, names = settings.require_source(), ", ".join(hosts)
    values: dict[str, dict[str, bool]] = {host: {"render": True} for host in hosts}
    edit = partial(source.edit, lambda stored: change_tables(stored, values), site_keys=("render",))
    try:
        edit(is_preview=True)
        source.check_writable()  # before the pages are fetched again, which every run would repeat
        page_count = engine.store.frontier.admin.refetch_hosts(hosts)
        edit()
    except SettingsError as error:
        engine.progress.note(f"{names}: pages need JavaScript; set render of these sites ({error})")
        return
    engine.settings = replace(settings, crawl=replace(settings.crawl, sites=source.load().crawl.sites))
    engine.progress.note(
        f"{names}: pages need JavaScript and will be rendered in a browser; {page_count} pages are fetched again"
    )
