"""Puts texts with known events into a store as if they had been extracted, and checks which texts are hidden.

Two texts of one event are copies. Two texts of different events are not, even if they are similar.
"""

import hashlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from docstore.articles.extraction_writer import PageExtraction
from docstore.near_duplicates.clusters import CopyDetection
from docstore.store import Store
from domain.article import Article
from domain.batches import batched
from domain.frontier import NewUrl, UrlKind, Visit
from domain.outcome import Outcome, Reason
from domain.page import Host, Page
from extractor.minhash import minhash_signature
from extractor.settings import ExtractSettings
from pipeline.compute.extraction_jobs import SAVE_BATCH_SIZE
from text.similarity.duplicates import ComparedArticle

HOST = "texts.test"


@dataclass(frozen=True)
class Told:
    """A text with its name, the `event` that its copies share, and the `rule` that generated it."""

    name: str
    event: str
    title: str
    body: str
    published: str = ""
    rule: str = ""


@dataclass(frozen=True)
class Hiding:
    """Result of a store: name of each hidden text -> name of the text that represents it."""

    texts: Sequence[Told]
    behind: Mapping[str, str]

    @property
    def right(self) -> list[tuple[str, str]]:
        """Texts hidden behind one of their copies."""
        events = {text.name: text.event for text in self.texts}
        return [(name, leader) for name, leader in self.behind.items() if events[name] == events[leader]]

    @property
    def wrong(self) -> list[tuple[str, str]]:
        """Texts hidden behind a text of another event."""
        return sorted(set(self.behind.items()) - set(self.right))

    @property
    def copies(self) -> int:
        """Number of texts that could be hidden: all but one of each event."""
        return len(self.texts) - len({text.event for text in self.texts})


def hiding_of(texts: Sequence[Told]) -> Hiding:
    """Put texts into an empty store, in an arbitrary but fixed order, and return the hidden ones."""
    ordered = sorted(texts, key=lambda text: hashlib.sha256(text.name.encode()).digest())
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store = stack.enter_context(Store(f"sqlite:///{folder}/texts.db", folder / "warc"))
        fill(store, ordered)
        return Hiding(texts, dict(hidden(store, ordered)))


def fill(store: Store, texts: Sequence[Told]) -> None:
    """Save texts as articles, in their order."""
    grouping = CopyDetection(ExtractSettings().near_duplicate, ComparedArticle)
    for batch in batched(list(enumerate(texts)), SAVE_BATCH_SIZE):
        found = {f"http://{HOST}/{number}": text for number, text in batch}
        store.frontier.add_urls([NewUrl(url, Host(HOST), 0, 0, UrlKind.UNKNOWN, 0.0) for url in found])
        entries = store.frontier.find_entries(list(found))
        pages = {url: page_of(url) for url in found}
        visits = [Visit(entries[url], Outcome(Reason.FETCHED), 1.0, None, 1.0, page=pages[url]) for url in found]
        store.frontier.record_visits(visits)
        articles = {url: article_of(url, text) for url, text in found.items()}
        store.articles.save(
            [PageExtraction(page, articles[page.url]) for page in store.articles.iter_pending()], grouping
        )


def page_of(url: str) -> Page:
    """Return a page for a text."""
    return Page(0, url, url, 200, "text/html", url.encode(), hashlib.sha256(url.encode()).hexdigest(), 1.0)


def article_of(url: str, text: Told) -> Article:
    """Return the text as an extracted article."""
    return Article(url, text.title, text.body, published=text.published, signature=minhash_signature(text.body))


def hidden(store: Store, texts: Sequence[Told]) -> Iterator[tuple[str, str]]:
    """Return the names of hidden texts with the names of their representatives."""
    kept = list(store.articles.iter_all())
    names = {one.doc_id: texts[int(one.article.url.rpartition("/")[2])].name for one in kept}
    for one in kept:
        if one.duplicate_of:
            yield names[one.doc_id], names[one.duplicate_of]
