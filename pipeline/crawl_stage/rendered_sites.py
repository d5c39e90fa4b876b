"""Decide which sites are rendered in a browser (`crawl.rendered = "auto"`), by the outcomes of their pages."""

from crawler.crawl_plan import parse_rendered_sites
from crawler.host_suggestions import with_added_sites
from crawler.rendered_sites import add_rendered_hosts, can_render_automatically
from domain.page import Host
from pipeline.engine import Engine


def count_unrendered_pages(engine: Engine) -> dict[str, int]:
    """Return the number of pages that need JavaScript, of each host that needs it and is not rendered."""
    counts = engine.store.status.javascript_page_counts()
    if not counts:
        return {}
    scopes = parse_rendered_sites(with_added_sites(engine.settings.crawl, engine.settings.data_dir))
    return {host: count for host, count in counts.items() if not any(scope.covers(host, "/") for scope in scopes)}


def render_sites_automatically(engine: Engine) -> None:
    """Render the sites that need JavaScript in this and later crawls, if allowed, and fetch their pages again."""
    settings = engine.settings.crawl
    if not can_render_automatically(settings):
        return
    hosts = sorted(map(Host, count_unrendered_pages(engine)))
    if not hosts:
        return
    page_count = engine.store.frontier.admin.refetch_hosts(hosts)
    add_rendered_hosts(engine.settings.data_dir, hosts)  # last: after a kill, the next crawl starts again
    engine.progress.note(
        f"{', '.join(hosts)}: pages need JavaScript and will be rendered in a browser; "
        f"{page_count} pages are fetched again"
    )
