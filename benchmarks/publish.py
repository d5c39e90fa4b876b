"""Time from publishing a term until searches find it: `make bench-publish`, set `publish`.

The vertical has 100,000 articles made of sentences of real ones. A tenth contains a term that no dictionary has,
another tenth contains the words of the term far apart. The vertical is indexed and served, and the term is published.
While the site's follower segments the affected documents again, clients search continuously. A search for the term
finds documents that are not segmented again yet, because words are searched as phrases of characters.

    seconds          from publishing until the site treats the term as one word, finds all documents that contain it,
                     and no longer finds documents that contain only its parts
    recut_seconds    until all of them are segmented again, in the background
    touched          documents that were reindexed; target: only documents with the term
    untouched_share  share of the documents without the term that were not reindexed; target: 1
    failed_queries   searches in that time without status 200, out of `queries`
    query_p95_ms     95th percentile of their duration
    python_cpu_s, solr_cpu_s   CPU seconds of the follower and of Solr in that time; more reliable on a busy machine
"""

import gzip
import itertools
import json
import os
import random
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click
import requests
from sqlalchemy import create_engine

from benchmarks.command import benchmark, data_option
from benchmarks.results import Figure, publish
from docstore.schema.article_tables import articles
from docstore.schema.crawl_tables import urls
from domain.article import document_id
from domain.batches import batched
from domain.errors import PlumblineError
from domain.review import ReviewDecisionKind, TermEdit
from domain.term import TermStatus
from pipeline import stages
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.review_service import StoreReview
from pipeline.search_site.serve import SearchSite
from pipeline.settings import Settings
from search_ui.query.solr_query import quote_phrase
from search_ui.settings import SearchSettings
from solr_client.solr_fields import BODY_DOMAIN, LEXICON_VERSION

SYSTEM, SET = "plumbline", "publish"
PARTS = ("深海", "钻采", "平台")
TERM = "".join(PARTS)
DOCUMENTS, HOLDING = 100_000, 10_000
MAX_SENTENCES = 200_000
READERS = 2
PAUSE = 0.2  # seconds between two searches of a reader
POLL = 0.1
PATIENCE = 600.0
_SENTENCE = re.compile("[^。！？!?\n]+[。！？!?]?")
_HAN = re.compile("[\u4e00-\u9fff]{4,}")


@dataclass
class Readers:
    """Clients that search continuously until `stop` is set."""

    url: str
    queries: Sequence[str]
    stop: threading.Event = field(default_factory=threading.Event)
    milliseconds: list[float] = field(default_factory=list)
    failed: int = 0

    def read(self, first: int) -> None:
        """Search for one query after another, from query number `first`."""
        with requests.Session() as session:
            session.trust_env = False
            for query in itertools.islice(itertools.cycle(self.queries), first, None):
                if self.stop.wait(PAUSE):
                    return
                began = time.perf_counter()
                try:
                    status = session.get(f"{self.url}search", params={"q": query}, timeout=60).status_code
                except requests.RequestException:
                    status = 0
                self.milliseconds.append((time.perf_counter() - began) * 1000)
                self.failed += status != requests.codes.ok


def real_texts(data: Path) -> list[str]:
    """Return the Chinese documents of the collections of `data`. Raises PlumblineError if there are none."""
    root = data / "ir" if (data / "ir").is_dir() else data
    texts: list[str] = []
    for path in sorted(root.glob("zh_*/docs.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            texts += [json.loads(line)["text"] for line in file]
    texts = [text for text in texts if _HAN.search(text) and TERM not in text]
    if not texts:
        raise PlumblineError(f"no Chinese collection (zh_*/docs.jsonl.gz) in {root}")
    return texts


def made_of(texts: Sequence[str], documents: int, holding: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Generate title and body of `documents` articles from sentences of real texts.

    `holding` of them contain the term, and as many others, if available, contain its parts. They have 200 to 1,000
    characters, like news articles; the documents of the collections are shorter.
    """
    sentences = [found for text in texts for found in _SENTENCE.findall(text)][:MAX_SENTENCES]
    chosen = chance.sample(range(documents), min(2 * holding, documents))
    with_term, with_parts = set(chosen[:holding]), set(chosen[holding:])
    for number in range(documents):
        wanted, body = chance.randint(200, 1000), ""
        while len(body) < wanted:
            body += chance.choice(sentences)
        if number in with_term:
            place = chance.randrange(len(body))
            body = f"{body[:place]}{TERM}{body[place:]}"
        elif number in with_parts:
            body = "。".join([PARTS[2], body[: len(body) // 2], PARTS[1], body[len(body) // 2 :], PARTS[0]])
        yield f"{chance.choice(sentences)[:20]} {number}", body


def fill(url: str, texts: Iterator[tuple[str, str]]) -> None:
    """Put articles into an empty store, as if they had been crawled and extracted."""
    engine = create_engine(url)
    with engine.begin() as connection:
        for batch in batched(enumerate(texts, start=1), 2000):
            addresses = {number: f"http://news{number % 50}.test/{number}.html" for number, _ in batch}
            connection.execute(urls.insert(), [url_row(number, addresses[number]) for number, _ in batch])
            connection.execute(
                articles.insert(),
                [article_row(number, addresses[number], title, body) for number, (title, body) in batch],
            )
    engine.dispose()


def url_row(number: int, url: str) -> dict[str, object]:
    """Return a row of the table `urls`."""
    known = {"url_id": number, "url": url, "host": url.split("/")[2], "queue": 0, "depth": 1, "kind": "article"}
    return {**known, "priority": 0.5, "due_at": None, "found_at": 0.0, "visited_at": 0.0}


def article_row(number: int, url: str, title: str, body: str) -> dict[str, object]:
    """Return a row of the table `articles`."""
    known = {"url_id": number, "doc_id": document_id(url), "title": title, "body": body, "published": "2024-05-01"}
    return {**known, "date_source": "url", "language": "zh", "method": "made", "digest": "d", "extracted_at": 0.0}


def found_by_site(url: str) -> int:
    """Count the documents that a search for the term as one word finds."""
    asked = {"q": TERM}
    with requests.Session() as session:
        session.trust_env = False
        return int(session.get(f"{url}api/v1/search", params=asked, timeout=60).json()["total"])


def cut_anew(engine: Engine) -> int:
    """Count the documents in which the term is one word."""
    found = engine.index.search({"q": f"{{!field f={BODY_DOMAIN} v=$word}}", "word": TERM, "rows": 0})
    return int(found["response"]["numFound"])


def touched(engine: Engine, version: int) -> tuple[int, int]:
    """Count the documents that were written with `version`: all, and those without the term."""
    query = {"q": f"{LEXICON_VERSION}:{version}", "rows": 0}
    every = int(engine.index.search(query)["response"]["numFound"])
    with_term = {"fq": "{!field f=body_chars v=$word}", "word": quote_phrase(TERM).strip('"')}
    return every, every - int(engine.index.search({**query, **with_term})["response"]["numFound"])


def measure(engine: Engine, documents: int, holding: int, queries: Sequence[str]) -> Iterator[Figure]:
    """Publish the term on an indexed and served vertical, and measure."""
    desk = StoreReview(engine.store)
    engine.store.review_history.apply(
        ReviewDecisionKind.ADD, [TermEdit(TERM, TermStatus.ACCEPTED, create_if_missing=True)]
    )
    with SearchSite(engine) as site:
        readers = Readers(site.url, queries)
        threads = [threading.Thread(target=readers.read, args=(n * 7,)) for n in range(READERS)]
        for thread in threads:
            thread.start()
        time.sleep(3)  # the first responses of a new server are not measured
        readers.milliseconds.clear()
        before = (time.process_time(), solr_cpu())
        version, began = desk.publish("bench").version, time.perf_counter()
        whole = wait_until(lambda: found_by_site(site.url), holding, began)
        recut = wait_until(lambda: cut_anew(engine), holding, began)
        cpu = (time.process_time() - before[0], solr_cpu() - before[1])
        readers.stop.set()
        for thread in threads:
            thread.join()
    every, without = touched(engine, version)
    took = sorted(readers.milliseconds)
    values = {
        "seconds": whole,
        "recut_seconds": recut,
        "documents": documents,
        "holding": holding,
        "touched": every,
        "untouched_share": 1 - without / (documents - holding),
        "queries": len(took),
        "failed_queries": readers.failed,
        "query_p95_ms": took[int(len(took) * 0.95)] if took else 0.0,
        "python_cpu_s": cpu[0],
        "solr_cpu_s": cpu[1],
    }
    yield from (Figure(SET, SYSTEM, name, value) for name, value in values.items())


def solr_cpu() -> float:
    """Return the CPU seconds of the Java processes below this process."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, fields = stat.read_text().partition("(")[2].rsplit(")", 1)
            parent, used = int(fields.split()[1]), sum(map(int, fields.split()[11:13]))
            ticks += used if name == "java" and is_below(parent) else 0
        except OSError:  # the process has ended
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def is_below(process: int) -> bool:
    """True for this process and its descendants."""
    while process > 1 and process != os.getpid():
        process = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    return process == os.getpid()


def wait_until(found: Callable[[], int], count: int, began: float) -> float:
    """Return the seconds since `began` when exactly `count` documents are found. Raises PlumblineError on timeout."""
    while found() != count:
        if time.perf_counter() - began > PATIENCE:
            raise PlumblineError(f"the term was not found in {count} documents within {PATIENCE:g} s")
        time.sleep(POLL)
    return time.perf_counter() - began


@benchmark(SET, documents=60, holding=6)
@data_option()
@click.option("--documents", default=DOCUMENTS, type=click.IntRange(1))
@click.option("--holding", default=HOLDING, type=click.IntRange(0), help="Number of documents that contain the term.")
def main(data: Path, documents: int, holding: int) -> None:
    """Fill, index, publish, and write the figures."""
    chance = random.Random(6)
    texts = real_texts(data)
    queries = [found[:8] for text in chance.sample(texts, min(200, len(texts))) if (found := _HAN.findall(text)[0])]
    with tempfile.TemporaryDirectory() as folder:
        settings = settings_for(Path(folder))
        with Engine(settings, NullProgress()) as engine:
            fill(f"sqlite:///{settings.data_dir / 'store.db'}", made_of(texts, documents, holding, chance))
            engine.store.change_log.enqueue_all()
            stages.index(engine)
            figures = list(measure(engine, documents, holding, queries))
    publish(SET, figures)


def settings_for(folder: Path) -> Settings:
    """Return default settings with a folder of their own, on any port."""
    return Settings(folder, search=SearchSettings(port=0, timeout=60.0))


if __name__ == "__main__":
    main()
