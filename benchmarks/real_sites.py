"""The set `sites`: share of each site's pages that is known after one run, and the cost."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from lxml import etree

from benchmarks.real_recipe import Site
from benchmarks.real_vertical import Vertical, is_article
from benchmarks.real_web import reply_of
from benchmarks.results import Figure, out_folder
from crawler.urls.canonical import canonicalize_url
from domain.outcome import Reason

MAX_SITEMAPS = 1000
Coverage = Mapping[str, bool]
"""URL -> does the store know it?"""


def site_figures(vertical: Vertical) -> Iterator[Figure]:
    """Yield figures of all sites together, then of each; unknown URLs are lines of `out/real-sites.tsv`."""
    listed = {site.host: sitemap_coverage(vertical, site) for site in vertical.sites}
    own = {site.host: pages_coverage(vertical, site, lambda site, path: True) for site in vertical.sites}
    certain = {site.host: pages_coverage(vertical, site, is_article) for site in vertical.sites}
    for metric, found in (("sitemap_known", listed), ("articles_known", certain), ("pages_known", own)):
        if any(found.values()):
            yield Figure("sites", "plumbline", metric, known_share(found.values()))
    yield from cost_figures(vertical)
    for metric, found in (("sitemap_known", listed), ("articles_known", certain), ("pages_known", own)):
        for host, coverage in found.items():
            if coverage:
                yield Figure(f"sites {host}", "plumbline", metric, known_share([coverage]))
    tell([*listed.values(), *certain.values()])


def known_share(coverages: Iterable[Coverage]) -> float:
    """Return the share of known URLs over all sites."""
    found = [is_known for coverage in coverages for is_known in coverage.values()]
    return sum(found) / max(len(found), 1)


def cost_figures(vertical: Vertical) -> Iterator[Figure]:
    """Yield the speed of the stages, and the outcomes of crawl and extraction."""
    for stage in ("crawl", "extract"):
        cost = vertical.costs[stage]
        pages = sum(cost.counts.values())
        yield Figure("sites", "plumbline", f"{stage} pages/s", pages / max(cost.seconds, 1e-9))
        yield Figure("sites", "plumbline", f"{stage} pages_per_cpu_s", pages / max(cost.cpu_seconds, 1e-9))
        for reason, count in sorted(cost.counts.items()):
            yield Figure("sites", "plumbline", f"{stage} {reason}", count)


def sitemap_coverage(vertical: Vertical, site: Site) -> Coverage:
    """Return known and unknown URLs of the site's sitemaps."""
    listed = {url for url in map(canonicalize_url, sitemap_urls(vertical, site)) if not isinstance(url, Reason)}
    known = vertical.engine.store.frontier.known_urls(sorted(listed))
    return {url: url in known for url in listed}


def pages_coverage(vertical: Vertical, site: Site, wanted: Callable[[Site, str], bool]) -> Coverage:
    """Return which `wanted` pages of the site's tree the store knows, under any of their URLs."""
    pages = [vertical.spellings(site, path) for path, _file in vertical.pages_of(site) if wanted(site, path)]
    known = vertical.engine.store.frontier.known_urls([url for urls in pages for url in urls])
    return {urls[0]: any(url in known for url in urls) for urls in pages if urls}


def sitemap_urls(vertical: Vertical, site: Site) -> Iterator[str]:
    """Return the URLs in the sitemaps of the site: those named in robots.txt, otherwise /sitemap.xml."""
    tree = vertical.web.trees[site.host]
    waiting = named_in_robots(tree) or [vertical.web.url(site.host, "/sitemap.xml")]
    for number, url in enumerate(waiting):  # an index makes the list longer
        if number < MAX_SITEMAPS and urlsplit(url).hostname == site.host:
            nested, pages = locations(tree, url)
            waiting += [other for other in nested if other not in waiting]
            yield from (page for page in pages if urlsplit(page).hostname == site.host)


def named_in_robots(tree: Path) -> list[str]:
    """Return the sitemaps named in the site's robots.txt."""
    robots = tree / "robots.txt"
    lines = robots.read_text(encoding="utf-8", errors="replace").splitlines() if robots.is_file() else []
    return [line.partition(":")[2].strip() for line in lines if line.lower().startswith("sitemap:")]


def locations(tree: Path, url: str) -> tuple[list[str], list[str]]:
    """Return the sitemaps and pages listed in the sitemap at `url`; empty if it does not exist."""
    reply = reply_of(tree, urlsplit(url).path)
    if reply.status != 200:
        return [], []
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
    root = etree.fromstring(reply.content, parser)
    if root is None:
        return [], []
    found = [urljoin(url, (loc.text or "").strip()) for loc in root.iterfind("{*}*/{*}loc")]
    return (found, []) if etree.QName(root).localname == "sitemapindex" else ([], found)


def tell(coverages: Iterable[Coverage]) -> None:
    """Write the unknown URLs for manual inspection."""
    unknown = {url for coverage in coverages for url, is_known in coverage.items() if not is_known}
    (out_folder() / "real-sites.tsv").write_text(
        "".join(f"unknown\t{url}\n" for url in sorted(unknown)), encoding="utf-8"
    )
