"""The set `sites`: how much of what the sites have is known after one run, and what that cost."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from lxml import etree

from benchmarks.real_recipe import Site
from benchmarks.real_vertical import Vertical
from benchmarks.real_web import reply_of
from benchmarks.results import Figure
from crawler.urls import canonical
from docstore.model import Reason

MAX_SITEMAPS = 1000


def site_figures(vertical: Vertical) -> Iterator[Figure]:
    """Of all sites, then of each that has a sitemap."""
    found = {site.host: known_share(vertical, site) for site in vertical.sites}
    told = {host: counts for host, counts in found.items() if counts[1]}
    if told:
        known, all_ = (sum(counts[part] for counts in told.values()) for part in (0, 1))
        yield Figure("sites", "plumbline", "sitemap_known", known / all_)
    yield from cost_figures(vertical)
    for host, (known, all_) in told.items():
        yield Figure(f"sites {host}", "plumbline", "sitemap_known", known / all_)
    for site in vertical.sites:
        yield Figure(f"sites {site.host}", "plumbline", "pages_known", pages_known(vertical, site))


def cost_figures(vertical: Vertical) -> Iterator[Figure]:
    """Speed of the stages, and what became of the URLs of the crawl and of the pages of the extraction."""
    for stage in ("crawl", "extract"):
        cost = vertical.costs[stage]
        pages = sum(cost.counts.values())
        yield Figure("sites", "plumbline", f"{stage} pages/s", pages / max(cost.seconds, 1e-9))
        yield Figure("sites", "plumbline", f"{stage} pages_per_cpu_s", pages / max(cost.cpu_seconds, 1e-9))
        for reason, count in sorted(cost.counts.items()):
            yield Figure("sites", "plumbline", f"{stage} {reason}", count)


def known_share(vertical: Vertical, site: Site) -> tuple[int, int]:
    """How many of the URLs of the site's sitemaps the store knows, and how many there are."""
    listed = {url for url in map(canonical, sitemap_urls(vertical, site)) if not isinstance(url, Reason)}
    return len(known_urls(vertical, sorted(listed))), len(listed)


def known_urls(vertical: Vertical, urls: list[str]) -> set[str]:
    """Those of `urls` that the store has a row for."""
    return vertical.engine.store.frontier.known(urls)


def pages_known(vertical: Vertical, site: Site) -> float:
    """Share of the pages of the site's tree that the store knows, whether anything leads to them or not."""
    pages = [vertical.spellings(site, path) for path, _file in vertical.pages_of(site)]
    known = known_urls(vertical, [url for urls in pages for url in urls])
    return sum(any(url in known for url in urls) for urls in pages) / max(len(pages), 1)


def sitemap_urls(vertical: Vertical, site: Site) -> Iterator[str]:
    """The URLs of the site that its sitemaps list: those that robots.txt names, else /sitemap.xml."""
    tree = vertical.web.trees[site.host]
    waiting = named_in_robots(tree) or [vertical.web.url(site.host, "/sitemap.xml")]
    for number, url in enumerate(waiting):  # an index makes the list longer
        if number < MAX_SITEMAPS and urlsplit(url).hostname == site.host:
            nested, pages = locations(tree, url)
            waiting += [other for other in nested if other not in waiting]
            yield from (page for page in pages if urlsplit(page).hostname == site.host)


def named_in_robots(tree: Path) -> list[str]:
    """The sitemaps that the site's robots.txt names."""
    robots = tree / "robots.txt"
    lines = robots.read_text(encoding="utf-8", errors="replace").splitlines() if robots.is_file() else []
    return [line.partition(":")[2].strip() for line in lines if line.lower().startswith("sitemap:")]


def locations(tree: Path, url: str) -> tuple[list[str], list[str]]:
    """The sitemaps and the pages that the sitemap at `url` lists; nothing where there is none."""
    reply = reply_of(tree, urlsplit(url).path)
    if reply.status != 200:
        return [], []
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
    root = etree.fromstring(reply.content, parser)
    if root is None:
        return [], []
    found = [urljoin(url, (loc.text or "").strip()) for loc in root.iterfind("{*}*/{*}loc")]
    return (found, []) if etree.QName(root).localname == "sitemapindex" else ([], found)
