"""A labelled web generated from the words of a stored one, with structures that stored graphs lack.

The same seed generates the same web.

domain sites    one topic each: sections of articles, one section off topic; further sites completely off topic portals
a section for each topic among many that are off topic chains          article -> page of links (few words, off topic)
-> articles of the topic on other sites links           navigation to sections on every page, similar articles,
advertisements with titles of other topics near misses     pages off topic with one paragraph of a page of a topic

All words, titles and anchors are those of real pages. Names of sections and hosts do not reveal the topic.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.focus_graph import Graph, Node
from crawler.focused_policy import (
    BLOCK_CONTENT,
    BLOCK_NAVIGATION,
    BLOCK_OTHER,
    BLOCK_TITLE,
    LinkWords,
    PageWords,
    WordBlock,
    Words,
)

NAME = "generated"
OFF = ""  # label of a page off topic
TOPICS = 4  # those with most pages
PARAGRAPHS, WORDS, DESCRIPTION = 4, 60, 20  # of an article; words of a paragraph, words of a description
RELATED, ADVERTISED, CHAINED = 5, 2, 3  # links of an article, of a page of links
NEAR_MISS = 0.3  # of the pages off topic
DESCRIBED = 0.5  # of the articles have a description
PORTAL, DOMAIN = "portal", "domain"
FOOTER_WORDS = 12


@dataclass(frozen=True)
class Shape:
    """Size of the generated web."""

    sites: int = 2  # of each topic
    portals: int = 3
    sections: int = 3  # of its topic, on a domain site
    off_sections: int = 12  # of a portal
    others: int = 4  # sites off topic
    articles: int = 25  # of a section


@dataclass
class Section:
    """A folder of a host with the URLs of its articles; `label` is its topic or OFF."""

    host: str
    path: str
    label: str
    name: Words
    articles: list[str] = field(default_factory=list)

    @property
    def index(self) -> str:
        """URL of the page that lists the articles."""
        return f"http://{self.host}/{self.path}/"


@dataclass(frozen=True)
class Draft:
    """A page without its links."""

    label: str
    title: Words
    description: Words
    blocks: tuple[WordBlock, ...]


class Pool:
    """Pages of one label, dealt in random order; starts again when all are used."""

    def __init__(self, pages: Sequence[PageWords], draw: random.Random) -> None:
        self._pages = draw.sample(pages, len(pages))
        self._dealt = 0

    def deal(self) -> PageWords:
        """Return the next page."""
        page = self._pages[self._dealt % len(self._pages)]
        self._dealt += 1
        return page


class SiteWriter:
    """Writes the web. `pools` has the pages of each topic, and of none (OFF)."""

    def __init__(self, pools: Mapping[str, Pool], draw: random.Random, shape: Shape) -> None:
        self._pools = pools
        self._draw = draw
        self._shape = shape
        self.sections: list[Section] = []
        self.drafts: dict[str, Draft] = {}
        self.links: dict[str, list[LinkWords]] = {}

    def write(self) -> None:
        """Create sections with their articles, then the links."""
        topics = [label for label in self._pools if label != OFF]
        for number, topic in enumerate(topics):
            for site in range(self._shape.sites):
                labels = [topic] * self._shape.sections + [OFF]
                self._write_host(f"www.{DOMAIN}{number * self._shape.sites + site}.test", labels)
        for portal in range(self._shape.portals):
            self._write_host(f"www.{PORTAL}{portal}.test", [*topics, *[OFF] * self._shape.off_sections])
        for site in range(self._shape.others):
            self._write_host(f"www.other{site}.test", [OFF] * self._shape.off_sections)
        for section in self.sections:
            self._link_section(section)
        for topic in topics:
            self._chain(topic)

    def _write_host(self, host: str, labels: Sequence[str]) -> None:
        paths = self._draw.sample(range(10, 10 + 3 * len(labels)), len(labels))
        for label, path in zip(labels, paths, strict=True):
            section = Section(host, f"c{path}", label, self._pools[label].deal().title)
            self.sections.append(section)
            for number in range(self._shape.articles):
                url = f"{section.index}{self._draw.randrange(1000)}{number}.html"
                section.articles.append(url)
                self.drafts[url] = self._article(label)

    def _article(self, label: str) -> Draft:
        page, draw = self._pools[label].deal(), self._draw
        text = paragraphs(page)
        if label == OFF and draw.random() < NEAR_MISS:
            strange = self._pools[draw.choice([name for name in self._pools if name != OFF])].deal()
            text = [*text[: PARAGRAPHS - 1], *paragraphs(strange)[:1]]
        description = text[0][:DESCRIPTION] if text and draw.random() < DESCRIBED else ()
        return Draft(label, page.title, description, blocks_of(page.title, text))

    def _link_section(self, section: Section) -> None:
        """Link index and articles of a section, with the sections of the host as navigation."""
        host = [other for other in self.sections if other.host == section.host]
        menu = [LinkWords(other.index, other.name, ()) for other in host]
        self.drafts[section.index] = Draft(OFF, section.name, (), blocks_of(section.name, []))
        self.links[section.index] = [*menu, *(self._link(url) for url in section.articles)]
        everything = [url for other in self.sections for url in other.articles]
        for url in section.articles:
            near = self._draw.sample(section.articles, min(RELATED, len(section.articles)))
            adverts = self._draw.sample(everything, ADVERTISED)
            related = [self._link(other, self._context(url)) for other in near]
            self.links[url] = [*menu, *related, *(self._advert(other) for other in adverts)]

    def _chain(self, topic: str) -> None:
        """Create a page of links for each section of a topic, which links to articles of the topic on other hosts."""
        for section in [own for own in self.sections if own.label == topic]:
            abroad = [
                url
                for other in self.sections
                if other.label == topic and other.host != section.host
                for url in other.articles
            ]
            if not abroad:
                continue
            hub, words = f"{section.index}more.html", self._pools[OFF].deal().title
            self.drafts[hub] = Draft(OFF, words, (), blocks_of(words, []))
            self.links[hub] = [self._link(url) for url in self._draw.sample(abroad, min(CHAINED, len(abroad)))]
            self.links[section.articles[0]].append(LinkWords(hub, words))

    def _link(self, url: str, context: Words = ()) -> LinkWords:
        return LinkWords(url, self.drafts[url].title, context)

    def _advert(self, url: str) -> LinkWords:
        """Return a link whose anchor is the title of another page."""
        other = self._draw.choice(list(self._pools))
        return LinkWords(url, self._pools[other].deal().title)

    def _context(self, url: str) -> Words:
        text = [block.words for block in self.drafts[url].blocks if block.kind == BLOCK_CONTENT]
        return text[-1][:DESCRIPTION] if text else ()

    def nodes(self) -> dict[str, Node]:
        """Return the pages with their links, navigation and footer."""
        footers = {host: self._pools[OFF].deal() for host in dict.fromkeys(own.host for own in self.sections)}
        menus = {
            host: tuple(word for own in self.sections if own.host == host for word in own.name) for host in footers
        }
        return {
            url: node_of(url, draft, self.links[url], menus[host_of(url)], footers[host_of(url)])
            for url, draft in self.drafts.items()
        }


def generated(source: Graph, seed: int = 0, shape: Shape | None = None) -> Graph:
    """Generate a web from the words of a stored graph, with its largest topics."""
    draw = random.Random(seed)
    of_topic = {name: source.relevant(name) for name in source.topics}
    names = sorted(sorted(of_topic, key=lambda name: (-len(of_topic[name]), name))[:TOPICS])
    pools = {name: Pool(pages_of(source, of_topic, [name]), draw) for name in names}
    pools[OFF] = Pool(pages_of(source, of_topic, []), draw)
    writer = SiteWriter(pools, draw, shape or Shape())
    writer.write()
    return Graph(NAME, writer.nodes(), {name: (f"{name}/",) for name in names}, source.cut)


def pages_of(source: Graph, of_topic: Mapping[str, frozenset[str]], topics: Sequence[str]) -> list[PageWords]:
    """Return the pages that belong to one of these topics only."""
    return [
        node.page
        for url, node in source.nodes.items()
        if [name for name, urls in of_topic.items() if url in urls] == list(topics) and node.page.title
    ]


def paragraphs(page: PageWords) -> list[Words]:
    """Return the first paragraphs of a page, cut to WORDS words."""
    text = [block.words[:WORDS] for block in page.blocks if block.kind == BLOCK_CONTENT and block.words]
    return text[:PARAGRAPHS]


def blocks_of(title: Words, text: Sequence[Words]) -> tuple[WordBlock, ...]:
    """Return title and paragraphs as blocks; navigation and footer have the rest of the weight."""
    return (WordBlock(BLOCK_TITLE, title, 0.4), *(WordBlock(BLOCK_CONTENT, words, 0.4 / len(text)) for words in text))


def node_of(url: str, draft: Draft, links: Sequence[LinkWords], menu: Words, footer: PageWords) -> Node:
    """Build a page; each URL is linked once, and the page does not link to itself."""
    last = tuple(word for words in paragraphs(footer) for word in words)[:FOOTER_WORDS]
    blocks = (*draft.blocks, WordBlock(BLOCK_NAVIGATION, menu, 0.1), WordBlock(BLOCK_OTHER, last, 0.1))
    first: dict[str, LinkWords] = {}
    for link in links:
        if link.url != url:
            first.setdefault(link.url, link)
    page = PageWords(url, draft.title, draft.description, blocks)
    return Node(page, tuple(first.values()), (f"{draft.label}/",) if draft.label else ())


def host_of(url: str) -> str:
    """The host of a URL."""
    return url.split("/")[2]


def is_portal(url: str) -> bool:
    """True for a URL of a portal."""
    return PORTAL in host_of(url)
