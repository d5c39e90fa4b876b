"""Cost of a very long focused crawl: memory, state and time of `fused`, and of the next start.

    python -m benchmarks.focus_memory [--data DIR] [--web NAME] [--pages 60000] [--judged 1000000]

crawl   a web of DIR again and again under other hosts, each copy linked with the next: one topic, one crawl through the
        guide, the best URL first. After each tenth: pages remembered, the state as it is saved, memory of the process,
        time of the processor a page since the tenth before, all looks at everything included
start   a store with so many pages `focused_decisions`, and the state of that crawl, which has been given of as many:
  what it takes
        until a crawl goes on, and at its end, when what is kept is decided of all of them
share   what forgetting costs: harvest@R of `fused` with so small a memory, as a share of one that forgets nothing, over
        the topics of DIR whose crawls are twice as long (`--most 500`)
"""

import multiprocessing
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import click
from sqlalchemy import insert
from threadpoolctl import threadpool_limits

from benchmarks.command import benchmark, data_option
from benchmarks.focus_graph import Graph, load, stored_in
from benchmarks.focus_prior import priors_without
from benchmarks.focus_replay import Queue, replay
from benchmarks.focus_scores import mean, score
from benchmarks.results import SHARED, Figure, publish
from crawler.focused_policy import LinkWords, PageWords, TokenizedPage, TopicWords, serialize_page
from docstore.database import Database
from docstore.schema.crawl_tables import focused_decisions, urls
from domain.batches import batched
from domain.errors import PlumblineError
from domain.frontier import UrlKind
from domain.topic import ExamplePage, Topic
from focused.fused.strategy import FusedFeatureStrategy
from focused.topic.topic_file_store import TopicFileStore
from focused.topic_policy import TopicPolicy
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import build_settings
from pipeline.topic.policy_factory import create_policy, focused_crawl_settings, policy_state_path
from pipeline.topic.retention import apply_retention

TENTHS = 10
AT_ONCE = 10_000  # rows
NEXT_COPY = 10  # one page in this number links to itself in the next copy
MEGABYTE = 1e6
NAME = "topic"
FAR = 4e9  # epoch seconds: not due for long
_graph: Graph  # of the process: workers inherit it
NO_WORDS = serialize_page(TokenizedPage(PageWords("")))


@benchmark("focus_memory", web="zh_docs", pages=20, told=20, nodes=300)
@data_option(SHARED / "webgraph", "A folder of webs.")
@click.option("--web", default="wikispeedia", help="Web that is crawled repeatedly.")
@click.option("--pages", default=60_000, type=click.IntRange(TENTHS), help="Pages of the long crawl.")
@click.option(
    "--judged", "told", default=1_000_000, type=click.IntRange(0), help="Pages in the store at the next start."
)
@click.option(
    "--most", default=0, type=click.IntRange(0), help="Measure only `share`, with this number of pages in memory."
)
@click.option("--nodes", default=0, type=click.IntRange(0), help="Number of pages to read from the web; 0: all.")
def main(data: Path, web: str, pages: int, told: int, most: int, nodes: int) -> None:
    """Measure the cost of a very long crawl."""
    if most:
        found = list(shares(data, most))
    else:
        graph = next((load(stored, nodes) for stored in stored_in(data) if stored.name == web), None)
        if graph is None:
            raise PlumblineError(f"no web {web} in {data}: give DATA=DIR, a folder like ../shared/data/webgraph")
        with TemporaryDirectory() as folder, threadpool_limits(1):
            found = list(measured(Path(folder), graph, pages, told))
    publish("focus_memory", found)


def measured(folder: Path, graph: Graph, pages: int, told: int) -> Iterator[Figure]:
    """Measure the long crawl, then the next start."""
    topic = max(graph.topics, key=lambda name: len(graph.relevant(name)))
    seeds = graph.seeds(topic, 0)
    TopicFileStore(folder / "data").create(
        Topic(NAME, graph.cut(topic), examples=tuple(example_of(graph.nodes[url].page) for url in seeds))
    )
    settings = build_settings({"crawl": {"seeds": list(seeds), "topic": NAME, "strategy": "fused"}}, folder)
    with Engine(settings, NullProgress()) as engine:
        guide = create_policy(engine, focused_crawl_settings(engine))
        try:
            yield from crawled(guide, graph, seeds, pages)
            told_of(guide, told)
            record(engine, guide)
            assert guide.config.snapshot is not None
            guide.config.snapshot.save(guide.state)
        finally:
            guide.config.close()
        del guide
        yield from started(engine, policy_state_path(engine.settings.data_dir))


def example_of(page: PageWords) -> ExamplePage:
    """Convert a page to an example of a topic file."""
    return ExamplePage(
        page.url, " ".join(page.title), "", tuple((one.kind, one.weight, " ".join(one.words)) for one in page.blocks)
    )


def crawled(guide: TopicPolicy, graph: Graph, seeds: Sequence[str], pages: int) -> Iterator[Figure]:
    """Crawl `pages` pages of the copies."""
    queue, spent, before = Queue(), time.process_time(), 0
    for seed in seeds:
        queue.offer(seed, 0.0)
    yield Figure("crawl", "0 pages", "process_mb", resident())
    for count in range(1, pages + 1):
        url = queue.take()
        if url is None:
            break
        reading = reading_of(graph, url)
        priorities = guide.decide(reading, {}).priorities
        for link in reading.links:
            queue.offer(link.url, priorities.get(link.url))
        queue.change(priorities)
        if count % (pages // TENTHS) == 0:
            now = time.process_time()
            print(f"\r{count} of {pages} pages", end="", file=sys.stderr)
            yield Figure("crawl", f"{count} pages", "pages_remembered", fused_of(guide).remembered_page_count)
            yield Figure("crawl", f"{count} pages", "priorities_remembered", len(guide.priority_by_url))
            yield Figure("crawl", f"{count} pages", "process_mb", resident())
            yield Figure("crawl", f"{count} pages", "ms_a_page", 1000 * (now - spent) / (count - before))
            spent, before = time.process_time(), count


def copy_of(url: str, number: int) -> str:
    """Return the URL in a copy of the web; copy 0 is the web itself."""
    parts = urlsplit(url)
    return parts._replace(netloc=f"{parts.netloc}.{number}").geturl() if number else url


def reading_of(graph: Graph, url: str) -> TokenizedPage:
    """Read a page of a copy."""
    host, _, number = urlsplit(url).netloc.rpartition(".")
    copy = 0 if url in graph.nodes else int(number)
    there = urlsplit(url)._replace(netloc=host).geturl() if copy else url
    node = graph.nodes[there]
    links = [LinkWords(copy_of(link.url, copy), link.anchor_words, link.context_words) for link in node.links]
    if sum(map(ord, there)) % NEXT_COPY == 0:
        links.append(LinkWords(copy_of(there, copy + 1), node.page.title))
    page = PageWords(url, node.page.title, (), node.page.blocks)
    return TokenizedPage(page.with_counts_cached(), tuple(links))


def told_of(guide: TopicPolicy, count: int) -> None:
    """Extend the state to `pages` pages; the pages that were not crawled count as forgotten."""
    state, focus = guide.state, fused_of(guide)
    more = [
        f"http://forgotten.test/{number % 1000}/page-{number}" for number in range(count - len(state.assessed_urls))
    ]
    focus._evicted_scores.update(dict.fromkeys(more, 0.1))
    state.assessed_urls.update(more)
    state.page_count = state.next_seq = len(state.assessed_urls)


def record(engine: Engine, guide: TopicPolicy) -> None:
    """Write the rows for the pages of a state to the store."""
    with closing(Database(f"sqlite:///{engine.settings.data_dir / 'store.db'}")) as database:
        for some in batched(enumerate(guide.state.assessed_urls), AT_ONCE):
            with database.write() as connection:
                connection.execute(insert(urls), [url_row(number, url) for number, url in some])
                connection.execute(insert(focused_decisions), [judged_row(number) for number, _ in some])


def url_row(number: int, url: str) -> dict[str, object]:
    """Return the row of a fetched page that was not retained."""
    return {
        "url_id": number,
        "url": url,
        "host": urlsplit(url).netloc,
        "queue": 0,
        "depth": 1,
        "kind": UrlKind.UNKNOWN.value,
        "priority": 0.0,
        "due_at": FAR,
        "gap": 1e6,
        "visited_at": 1.0,
        "found_at": 0.0,
    }


def judged_row(number: int) -> dict[str, object]:
    """Return the focused decision on a page. Its words are read only if the snapshot is not valid."""
    return {
        "url_id": number,
        "seq": number,
        "strategy": "fused",
        "topic": NAME,
        "score": 0.1,
        "kept": 0,
        "words": NO_WORDS,
    }


def started(engine: Engine, state: Path) -> Iterator[Figure]:
    """Measure the next start until the crawl resumes, and its end."""
    clock, processor = time.perf_counter(), time.process_time()
    guide = create_policy(engine, focused_crawl_settings(engine))
    guide.config.close()
    taken = time.perf_counter() - clock, time.process_time() - processor
    system = f"{guide.state.page_count} pages"
    yield Figure("start", system, "seconds", taken[0])
    yield Figure("start", system, "cpu_seconds", taken[1])
    yield Figure("start", system, "pages_remembered", fused_of(guide).remembered_page_count)
    yield Figure("start", system, "state_mb", state.stat().st_size / MEGABYTE)
    clock = time.perf_counter()
    apply_retention(engine, guide)
    yield Figure("end", system, "seconds", time.perf_counter() - clock)


def fused_of(guide: TopicPolicy) -> FusedFeatureStrategy:
    """Return the strategy of a policy."""
    focus = guide.state.strategy
    assert isinstance(focus, FusedFeatureStrategy)
    return focus


def resident() -> float:
    """Return the current resident memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / MEGABYTE


def shares(data: Path, most: int) -> Iterator[Figure]:
    """Measure the cost of forgetting on each web; topics run in worker processes, which inherit the web."""
    global _graph
    for stored in stored_in(data):
        _graph = graph = load(stored)
        with multiprocessing.get_context("fork").Pool(2, threadpool_limits, (1,)) as pool:
            found = [one for one in pool.imap(partial(compared, most), graph.topics) if one]
        if found:
            yield Figure("share", graph.name, "topics", len(found))
            yield Figure("share", graph.name, "harvest_r_unbounded", mean([free for free, _ in found]))
            yield Figure("share", graph.name, f"harvest_r_{most}", mean([bounded for _, bounded in found]))


def compared(most: int, topic: str) -> tuple[float, float] | None:
    """Return harvest@R with unlimited memory and with `most` pages; None for a crawl shorter than twice `most`."""
    graph = _graph
    relevant, seeds = graph.relevant(topic), graph.seeds(topic, 0)
    reachable = sum(url in relevant for url in graph.reachable(seeds)) - len(seeds)
    if reachable < 2 * most:  # after R fetches harvest@R is known
        return None
    words = TopicWords(graph.cut(topic), tuple(graph.nodes[url].page for url in seeds))
    free, bounded = (
        score(replay(graph, focus, seeds, reachable), relevant, reachable).harvest_r
        for focus in (
            FusedFeatureStrategy(words, priors_without(graph.name)),
            FusedFeatureStrategy(words, priors_without(graph.name), most),
        )
    )
    return free, bounded


if __name__ == "__main__":
    main()
