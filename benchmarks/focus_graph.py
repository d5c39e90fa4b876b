"""Stored web graphs: pages as words with their links, labels beside them. The form is that of ../shared/data/webgraph.

    NAME/pages.jsonl.xz + NAME/topics.json                     as benchmarks.focus_webs writes them
    wikispeedia.jsonl.xz + topics.json     zh_docs.jsonl.xz + zh_topics.json

One page a line: url, title, paras, links (to, anchor, para, at), topics. A label is a prefix of one of `topics`.
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
from docstore.errors import PlumblineError
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
    """A page of a graph: what a fetch of it gives, and its labels, which only the score may look at."""

    page: PageWords
    links: tuple[LinkWords, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Graph:
    """A closed set of pages by URL, and its topics: name -> prefixes of labels."""

    name: str
    nodes: Mapping[str, Node]
    topics: Mapping[str, tuple[str, ...]]
    cut: Cut = field(repr=False)

    def relevant(self, topic: str) -> frozenset[str]:
        """The URLs whose label says that they are of the topic."""
        prefixes = self.topics[topic]
        return frozenset(
            url for url, node in self.nodes.items() if any(label.startswith(prefixes) for label in node.labels)
        )

    def reachable(self, seeds: Iterable[str]) -> dict[str, int]:
        """Every URL that can be reached, with its distance from the nearest seed."""
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
        """Three random pages of the topic with three links or more."""
        relevant = self.relevant(topic)
        able = [url for url in self.nodes if url in relevant and len(self.nodes[url].links) >= MIN_LINKS]
        return tuple(random.Random(draw).sample(able, min(SEEDS, len(able))))


@dataclass(frozen=True)
class StoredGraph:
    """Where a graph lies: a file of pages and one of topics."""

    name: str
    pages: Path
    topics: Path


def stored_in(data: Path) -> list[StoredGraph]:
    """The graphs of a folder by name: folders that hold pages and topics, and files of pages with topics beside them.

    Raises PlumblineError where pages have no topics.
    """
    folder = data / "webgraph" if (data / "webgraph").is_dir() else data
    found = [(path.parent.name, path) for path in folder.glob("*/*.jsonl*")]
    found += [(path.name.partition(".")[0], path) for path in folder.glob("*.jsonl*")]
    return [StoredGraph(name, path, topics_beside(path)) for name, path in sorted(found)]


def topics_beside(pages: Path) -> Path:
    """The topics of a file of pages: named as it, as the first word of its name, or alone. Raises PlumblineError."""
    name = pages.name.partition(".")[0]
    names = (f"{name}_topics.json", f"{name.partition('_')[0]}_topics.json", "topics.json")
    for path in (pages.with_name(one) for one in names):
        if path.is_file():
            return path
    raise PlumblineError(f"{pages} has no topics: put topics.json beside it, name -> prefixes of labels")


def load(stored: StoredGraph, count: int = 0) -> Graph:
    """The graph of a file of pages and a file of topics; of its first so many pages, 0: all."""
    rows = list(islice(read_rows(stored.pages), count or None))
    chinese = sum(bool(_HAN.search(row["title"])) for row in rows) * 2 > len(rows)
    cut = cut_chinese() if chinese else cut_latin
    known = {row["url"] for row in rows}
    context = CONTEXT["zh" if chinese else "en"]
    nodes = {row["url"]: node_of(row, known, cut, context) for row in rows}
    named = json.loads(stored.topics.read_text(encoding="utf-8"))
    return Graph(stored.name, nodes, {name: tuple(some) for name, some in named.items()}, cut)


def read_rows(path: Path) -> Iterable[dict[str, Any]]:
    """The rows of a file, packed or not."""
    if path.suffix == ".xz":
        with lzma.open(path, "rt", encoding="utf-8") as packed:
            yield from map(json.loads, packed)
    else:
        with path.open(encoding="utf-8") as plain:
            yield from map(json.loads, plain)


def node_of(row: Mapping[str, Any], known: set[str], cut: Cut, context: int) -> Node:
    """A page, without links that leave the set or lead back to it; each URL is linked once, where it is first."""
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
    """A link with the text around its anchor, as far as it is known where it stands."""
    around = ""
    if link["para"] >= 0:
        text, start = paras[link["para"]], link["at"]
        end = start + len(link["anchor"])
        around = f"{text[max(start - context, 0) : start]} {text[end : end + context]}"
    return LinkWords(link["to"], cut(link["anchor"]), cut(around))


def cut_latin(text: str) -> Words:
    """Runs of two letters or more, lower case."""
    return tuple(map(sys.intern, _WORD.findall(text.lower())))


def cut_chinese() -> Cut:
    """Words of two Chinese characters or more, and Latin words, lower case."""
    segmenter = base_segmenter()

    def cut(text: str) -> Words:
        words = (word.lower() for word in segmenter.cut(text))
        return tuple(sys.intern(word) for word in words if _HAN.fullmatch(word) or _LATIN.fullmatch(word))

    return cut
