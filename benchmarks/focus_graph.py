"""Stored web graphs: pages as words with links and labels, in the format of ../shared/data/webgraph.

    NAME/pages.jsonl.xz + NAME/topics.json                     as benchmarks.focus_webs writes them
    wikispeedia.jsonl.xz + topics.json     zh_docs.jsonl.xz + zh_topics.json

One page per line: url, title, paras, links (to, anchor, para, at), topics. Each topic of a topics file is a list of
label prefixes.
"""

import json
import lzma
import random
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from crawler.focused_policy import BLOCK_CONTENT, BLOCK_TITLE, LinkWords, PageWords, WordBlock, Words
from domain.errors import PlumblineError
from text.segment import base_segmenter

CONTEXT = {"en": 100, "zh": 40}  # characters either side of an anchor, as ../shared/data/webgraph/README.md has them
SEEDS = 3
MIN_LINKS = 3  # of a seed
TEACHING = "teaching.json"  # beside the pages: labels that may teach, in the form of topics
_HAN = re.compile("[\u4e00-\u9fff]{2,}")
_LATIN = re.compile(r"[a-z][a-z0-9+#.-]*")
_WORD = re.compile(r"[^\W\d_]{2,}")

Cut = Callable[[str], Words]


@dataclass(frozen=True)
class Node:
    """A page of a graph: the result of a fetch, and its labels, which only the scoring may use."""

    page: PageWords
    links: tuple[LinkWords, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Graph:
    """A closed set of pages by URL, and its topics: name -> label prefixes."""

    name: str
    nodes: Mapping[str, Node]
    topics: Mapping[str, tuple[str, ...]]
    cut: Cut = field(repr=False)

    def relevant(self, topic: str) -> frozenset[str]:
        """Return the URLs of pages with a label of the topic."""
        prefixes = self.topics[topic]
        return frozenset(
            url for url, node in self.nodes.items() if any(label.startswith(prefixes) for label in node.labels)
        )

    def reachable(self, seeds: Iterable[str]) -> dict[str, int]:
        """Return every reachable URL with its distance from the nearest seed."""
        found = dict.fromkeys(seeds, 0)
        waiting = deque(found)
        while waiting:
            url = waiting.popleft()
            for link in self.nodes[url].links:
                if link.url not in found:
                    found[link.url] = found[url] + 1
                    waiting.append(link.url)
        return found

    def seeds(self, topic: str, draw: int) -> tuple[str, ...]:
        """Choose three random pages of the topic with three links or more."""
        relevant = self.relevant(topic)
        able = [url for url in self.nodes if url in relevant and len(self.nodes[url].links) >= MIN_LINKS]
        return tuple(random.Random(draw).sample(able, min(SEEDS, len(able))))


@dataclass(frozen=True)
class StoredGraph:
    """Location of a graph: a file of pages and a file of topics."""

    name: str
    pages: Path
    topics: Path


def stored_in(data: Path) -> list[StoredGraph]:
    """Return the graphs of a folder by name: subfolders with pages and topics, and page files with a topics file.

    Raises PlumblineError for pages without topics.
    """
    folder = data / "webgraph" if (data / "webgraph").is_dir() else data
    found = [(path.parent.name, path) for path in folder.glob("*/*.jsonl*")]
    found += [(path.name.partition(".")[0], path) for path in folder.glob("*.jsonl*")]
    return [StoredGraph(name, path, topics_beside(path)) for name, path in sorted(found)]


def topics_beside(pages: Path) -> Path:
    """Find the topics file of a page file: by its name, by the first word of its name, or topics.json.

    Raises PlumblineError if there is none.
    """
    name = pages.name.partition(".")[0]
    names = (f"{name}_topics.json", f"{name.partition('_')[0]}_topics.json", "topics.json")
    for path in (pages.with_name(one) for one in names):
        if path.is_file():
            return path
    raise PlumblineError(f"{pages} has no topics: put topics.json beside it, name -> prefixes of labels")


def load(stored: StoredGraph, count: int = 0) -> Graph:
    """Load a graph from a file of pages and a file of topics; reads only the first `nodes` pages if that is not 0."""
    rows = list(islice(read_rows(stored.pages), count or None))
    chinese = sum(bool(_HAN.search(row["title"])) for row in rows) * 2 > len(rows)
    cut = cut_chinese() if chinese else cut_latin
    known = {row["url"] for row in rows}
    context = CONTEXT["zh" if chinese else "en"]
    nodes = {row["url"]: node_of(row, known, cut, context) for row in rows}
    named = json.loads(stored.topics.read_text(encoding="utf-8"))
    return Graph(stored.name, nodes, {name: tuple(some) for name, some in named.items()}, cut)


def read_rows(path: Path) -> Iterable[dict[str, Any]]:
    """Yield the rows of a file, compressed or not."""
    if path.suffix == ".xz":
        with lzma.open(path, "rt", encoding="utf-8") as packed:
            yield from map(json.loads, packed)
    else:
        with path.open(encoding="utf-8") as plain:
            yield from map(json.loads, plain)


def node_of(row: Mapping[str, Any], known: set[str], cut: Cut, context: int) -> Node:
    """Build a page without links that leave the set or lead back to it; each URL is linked only once, at its first
    link.
    """
    title, paras = cut(row["title"]), row["paras"]
    blocks = (
        WordBlock(BLOCK_TITLE, title, 0.5),
        *(WordBlock(BLOCK_CONTENT, cut(text), 0.5 / len(paras)) for text in paras),
    )
    links: dict[str, LinkWords] = {}
    for link in row["links"]:
        if link["to"] in known and link["to"] != row["url"] and link["to"] not in links:
            links[link["to"]] = link_of(link, paras, cut, context)
    return Node(PageWords(row["url"], title, (), blocks), tuple(links.values()), tuple(row["topics"]))


def link_of(link: Mapping[str, Any], paras: Sequence[str], cut: Cut, context: int) -> LinkWords:
    """Build a link with the text around its anchor, if its position is known."""
    around = ""
    if link["para"] >= 0:
        text, start = paras[link["para"]], link["at"]
        end = start + len(link["anchor"])
        around = f"{text[max(start - context, 0) : start]} {text[end : end + context]}"
    return LinkWords(link["to"], cut(link["anchor"]), cut(around))


def cut_latin(text: str) -> Words:
    """Return runs of two letters or more, in lower case."""
    return tuple(map(sys.intern, _WORD.findall(text.lower())))


def cut_chinese() -> Cut:
    """Return words of two Chinese characters or more, and Latin words in lower case."""
    segmenter = base_segmenter()

    def cut(text: str) -> Words:
        words = (word.lower() for word in segmenter.cut(text))
        return tuple(sys.intern(word) for word in words if _HAN.fullmatch(word) or _LATIN.fullmatch(word))

    return cut
