"""The set `sites`: how much of what the sites have is known after one run, and what that cost."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from lxml import etree

from benchmarks.real_recipe import Site
from benchmarks.real_vertical import Vertical, is_article
from benchmarks.real_web import reply_of
from benchmarks.results import Figure, out_folder
from crawler.urls.canonical import canonicalize_url
from docstore.model import Reason

MAX_SITEMAPS = 1000
Coverage = Mapping[str, bool]
"""URL -> does the store know it?"""


def site_figures(vertical: Vertical) -> Iterator[Figure]:
    """Of all sites, then of each; the URLs that are not known are lines of `out/real-sites.tsv`."""
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
    """Share of the URLs of all of them that are known."""
    found = [is_known for coverage in coverages for is_known in coverage.values()]
    return sum(found) / max(len(found), 1)


def cost_figures(vertical: Vertical) -> Iterator[Figure]:
    """Speed of the stages, and what became of the URLs of the crawl and of the pages of the extraction."""
    for stage in ("crawl", "extract"):
        cost = vertical.costs[stage]
        pages = sum(cost.counts.values())
        yield Figure("sites", "plumbline", f"{stage} pages/s", pages / max(cost.seconds, 1e-9))
        yield Figure("sites", "plumbline", f"{stage} pages_per_cpu_s", pages / max(cost.cpu_seconds, 1e-9))
        for reason, count in sorted(cost.counts.items()):
            yield Figure("sites", "plumbline", f"{stage} {reason}", count)


def sitemap_coverage(vertical: Vertical, site: Site) -> Coverage:
    """Which of the URLs of the site's sitemaps the store knows."""
    listed = {url for url in map(canonicalize_url, sitemap_urls(vertical, site)) if not isinstance(url, Reason)}
    known = vertical.engine.store.frontier.known_urls(sorted(listed))
    return {url: url in known for url in listed}


def pages_coverage(vertical: Vertical, site: Site, wanted: Callable[[Site, str], bool]) -> Coverage:
    """Which pages of the site's tree the store knows, by any of their spellings; of those that are `wanted`."""
    pages = [vertical.spellings(site, path) for path, _file in vertical.pages_of(site) if wanted(site, path)]
    known = vertical.engine.store.frontier.known_urls([url for urls in pages for url in urls])
    return {urls[0]: any(url in known for url in urls) for urls in pages if urls}


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


def tell(coverages: Iterable[Coverage]) -> None:
    """Write the URLs that are not known, for a person to look at."""
    unknown = {url for coverage in coverages for url, is_known in coverage.items() if not is_known}
    (out_folder() / "real-sites.tsv").write_text(
        "".join(f"unknown\t{url}\n" for url in sorted(unknown)), encoding="utf-8"
    )
