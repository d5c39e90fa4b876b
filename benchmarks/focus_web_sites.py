"""Sites as their generators build them: pages with URLs, resolved links, and list pages.

blog      a page for each tag or category, for each month, and for the newest posts, ten per page; a post links to its
          lists and to the previous and next post
manual    a page for each section with its pages; a page links to its section. Labels are the sections
wiki      a page for each category with its members; a page links to its categories

A URL is the host and the page's own name, numbered if it recurs, so it does not reveal the section. List pages have no
label. Every page links to the home page, and a home page to those of the other sites of its web.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from benchmarks.focus_web_pages import SourcePage, label_of, leaf_of, read_page, read_wiki_page, sections_of
from benchmarks.focus_web_sources import Site, files_of, git_directory

PER_PAGE = {"blog": 10, "manual": 100, "wiki": 200}
TEASER = 120  # characters of a member, on a list
MIN_TEXT = 80  # characters; what has less is a stub
MIN_MEMBERS = 2  # of a list of its own
MAX_STEPS = 6  # of redirects

Row = dict[str, Any]


@dataclass(frozen=True)
class Listing:
    """Pages that a generator lists together: the list's URL, its name, its members in order."""

    url: str
    name: str
    members: tuple[SourcePage, ...]


def web_rows(sites: Sequence[Site], repos: Path) -> Iterator[Row]:
    """Return all pages of a web in the form of `focus_graph`. Raises PlumblineError if a snapshot is missing."""
    read = [(site, Names(site, list(pages_of(site, repos)))) for site in sites]
    by_host = {host: names for site, names in read for host in (site.host, *site.domains)}
    for site, names in read:
        friends = [other for other, _ in read if other != site]
        yield from site_rows(site, names, by_host, friends)


def pages_of(site: Site, repos: Path) -> Iterator[SourcePage]:
    """Return the pages of a repository that have text or links."""
    for path, text in files_of(git_directory(repos, site.repo), site):
        page = read_wiki_page(path, text) if site.kind == "wiki" else read_page(path, text, path.endswith(".html"))
        if site.kind == "manual":
            page = in_section(page, site.under)
        if page.redirect or sum(map(len, page.paras)) >= MIN_TEXT:
            yield page


def in_section(page: SourcePage, under: str) -> SourcePage:
    """Label a page of a manual with its place: sections from the top, then its own name."""
    steps = sections_of(page.path, under)
    label = "".join(label_of(step) or "x." for step in steps)
    return replace(page, labels=(label,) if label else (), shown={})


class Names:
    """The pages of a site by the names that other pages use in links."""

    def __init__(self, site: Site, pages: Sequence[SourcePage]) -> None:
        self.site = site
        self.pages = [page for page in pages if not page.redirect]
        self.urls: dict[str, str] = {}  # path of the file -> URL
        self._moved = {key_of(page.path): page.redirect for page in pages if page.redirect}
        self._known: dict[str, str] = {}  # key -> URL
        leaves: dict[str, list[str]] = defaultdict(list)
        for page, leaf in zip(self.pages, numbered(leaf_of(page.path) for page in self.pages), strict=True):
            url = f"http://{site.host}/{quote(leaf)}"
            self.urls[page.path] = url
            for name in (page.path.removeprefix(site.under), *page.names):
                self._known.setdefault(key_of(name), url)
                leaves[key_of(name).rpartition("/")[2]].append(url)
        for leaf, urls in leaves.items():
            if len(set(urls)) == 1 and leaf:
                self._known.setdefault(leaf, urls[0])

    def find(self, href: str, path: str = "") -> str | None:
        """Return the URL that a link from the page at `path` means; None if it is not a page of the site."""
        place = unquote(urlsplit(href).path)
        if not place:
            return None
        if not place.startswith("/"):
            place = joined(PurePosixPath(path.removeprefix(self.site.under)).parent, place)
        key = key_of(place)
        for _ in range(MAX_STEPS):
            if key not in self._moved:
                break
            key = key_of(self._moved[key].replace(" ", "_"))
        return self._known.get(key) or self._known.get(key.rpartition("/")[2])


def numbered(names: Iterable[str]) -> Iterator[str]:
    """Make lower-case names without blanks unique by appending numbers."""
    times: Counter[str] = Counter()
    for name in names:
        leaf = unique = name.casefold().replace(" ", "-")
        while times[unique]:
            times[leaf] += 1
            unique = f"{leaf}-{times[leaf]}"
        times[unique] = 1
        yield unique


def key_of(path: str) -> str:
    """Normalise a path for comparison: lower case, without suffix, index and outer slashes."""
    pure = PurePosixPath(path.casefold().strip("/"))
    named = pure.with_suffix("") if pure.suffix in (".md", ".markdown", ".mdx", ".html", ".htm") else pure
    return str(named.parent if named.name in ("index", "_index", "readme") else named).removeprefix(".")


def joined(folder: PurePosixPath, place: str) -> str:
    """Resolve a relative path from a folder."""
    parts = list(folder.parts)
    for step in place.split("/"):
        if step == "..":
            parts[-1:] = []
        elif step not in ("", "."):
            parts.append(step)
    return "/" + "/".join(parts)


def site_rows(site: Site, names: Names, by_host: Mapping[str, Names], friends: Sequence[Site]) -> Iterator[Row]:
    """The pages of a site and its lists."""
    home = f"http://{site.host}/"
    pages = sorted(names.pages, key=lambda page: (page.month, page.path), reverse=True)
    listings = [one for one in listings_of(site, pages) if len(one.members) >= MIN_MEMBERS]
    lists: dict[str, list[Row]] = defaultdict(list)
    for listing in listings:
        for page in listing.members:
            lists[page.path].append(link(listing.url, listing.name))
    for place, page in enumerate(pages):
        beside = [pages[other] for other in (place - 1, place + 1) if site.kind == "blog" and 0 <= other < len(pages)]
        around = [link(home, site.host), *lists[page.path], *(link(names.urls[one.path], one.title) for one in beside)]
        links = [*own_links(page, names, by_host), *around]
        yield row_of(names.urls[page.path], page.title, page.paras, links, page.labels)
    index = Listing(f"{home}lists/", site.host, ())
    yield from listing_rows(index, site, names, [link(one.url, one.name) for one in listings])
    front = Listing(home, site.host, tuple(pages) if site.kind == "blog" else ())
    friendly = [link(f"http://{one.host}/", one.host) for one in friends]
    yield from listing_rows(front, site, names, [link(index.url, "index"), *friendly])
    for listing in listings:
        yield from listing_rows(listing, site, names, [link(home, site.host)])


def listings_of(site: Site, pages: Iterable[SourcePage]) -> list[Listing]:
    """Return the lists of a site, except for its home page."""
    members: dict[tuple[str, str], list[SourcePage]] = defaultdict(list)
    for page in pages:
        if site.kind == "manual":
            steps = sections_of(page.path, site.under)
            members["sections", "/".join(steps[:-1]) or "top"].append(page)
        for label in page.labels if site.kind != "manual" else ():
            members["tags", page.shown[label]].append(page)
        if site.kind == "blog" and page.month:
            members["archives", page.month].append(page)
    return [
        Listing(f"http://{site.host}/{kind}/{quote(name)}/", name, tuple(some))
        for (kind, name), some in sorted(members.items())
    ]


def listing_rows(listing: Listing, site: Site, names: Names, around: Sequence[Row]) -> Iterator[Row]:
    """Build the pages of a list: a fixed number of members with the beginning of their text, and links to adjacent
    pages.
    """
    size = PER_PAGE[site.kind]
    pages = range(max(-(-len(listing.members) // size), 1))
    for number in pages:
        some = listing.members[number * size : (number + 1) * size]
        beside = [
            link(page_url(listing.url, other), str(other + 1)) for other in (number - 1, number + 1) if other in pages
        ]
        paras = [f"{page.title} {page.paras[0][:TEASER]}" for page in some]
        links = [link(names.urls[page.path], page.title, place, 0) for place, page in enumerate(some)]
        yield row_of(page_url(listing.url, number), listing.name, paras, [*links, *beside, *around], ())


def page_url(url: str, number: int) -> str:
    """Return the URL of page n of a list, from 0."""
    return f"{url}page/{number + 1}/" if number else url


def own_links(page: SourcePage, names: Names, by_host: Mapping[str, Names]) -> Iterator[Row]:
    """Return the links in a page's text that lead to pages of the web."""
    for one in page.links:
        try:
            host = (urlsplit(one.href).hostname or "").removeprefix("www.")
        except ValueError:
            continue
        found = (by_host.get(host) if host else names) or None
        url = found.find(one.href, "" if host else page.path) if found else None
        if url:
            yield link(url, one.anchor, one.para, one.at)


def link(to: str, anchor: str, para: int = -1, at: int = -1) -> Row:
    """A link of a row."""
    return {"to": to, "anchor": anchor, "para": para, "at": at}


def row_of(url: str, title: str, paras: Sequence[str], links: Sequence[Row], labels: Sequence[str]) -> Row:
    """A page of a web."""
    return {"url": url, "title": title, "topics": list(labels), "paras": list(paras), "links": list(links)}
