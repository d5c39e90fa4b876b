"""Pages as a focused crawl reads them: by the extractor's blocks, cut once by the words of lexicon and topic."""

import logging
import threading
from collections.abc import Iterable

from crawler.guide import CONTENT, TITLE
from docstore.formats import HTML
from docstore.model import Article, Lexicon, Outcome, Page
from docstore.topics import ExamplePage
from extractor.article_extractor import ArticleExtractor
from extractor.documents.read import read_document
from extractor.methods.tag_blocks import tag_blocks
from extractor.settings import ExtractSettings
from lexicon.dictionary import check_term
from pipeline.workers.page_reading import is_document
from pipeline.workers.worker_process import Limits, WorkerError, WorkerProcess
from text.segment import RjiebaSegmenter, Segmenter

log = logging.getLogger(__name__)

_DESCRIPTIONS = ("description", "keywords")  # of Zhou: <title>, meta description, meta keywords
_MAX_TEXT = 200_000  # characters of a page that are looked at


def segmenter_of(lexicon: Lexicon, terms: Iterable[str]) -> Segmenter:
    """A segmenter that knows the words of the lexicon and the terms of a topic."""
    known = {entry.text for entry in lexicon.entries}
    fresh = dict.fromkeys(term for term in terms if term not in known and not check_term(term))
    return RjiebaSegmenter(
        [*((one.text, one.frequency, one.tag) for one in lexicon.entries), *((term, 0, "n") for term in fresh)]
    )


class PageReader:
    """Reads pages and documents for a crawl, in any thread: documents one at a time, in a process that bears what they
    do to it. Close it after use."""

    def __init__(self, settings: ExtractSettings) -> None:
        self._process = WorkerProcess(Limits(settings.document_seconds, settings.document_mb), [__name__])
        self._guard = threading.Lock()

    def read(self, page: Page) -> ExamplePage:
        """A page of the crawl, as `read_example` reads it. Of a document that cannot be read only its URL is known."""
        if page.format == HTML:
            return example_of(page)
        with self._guard:
            try:
                return self._process.call(read_example, page.url, page.body, page.content_type)
            except WorkerError as error:
                log.info("%s cannot be read: %s", page.url, error)
                return ExamplePage(page.url)

    def close(self) -> None:
        """End the process, if there is one."""
        self._process.close()


def example_of(page: Page) -> ExamplePage:
    """A page of the crawl, as `read_example` reads it."""
    return read_example(page.url, page.body, page.content_type, page.final_url)


def of_article(url: str, title: str, body: str) -> ExamplePage:
    """An article without what stands around it."""
    return ExamplePage(url, title, "", ((TITLE, 0.5, title), (CONTENT, 0.5, body[:_MAX_TEXT])))


def read_example(url: str, html: bytes, content_type: str = "", base: str = "") -> ExamplePage:
    """A page with the text of its title, its description and its blocks (WY-F1 to F5); nothing but its URL where
    it cannot be read. `base` is where it was found, if elsewhere."""
    if is_document(html, url, content_type):
        found = read_document(html, url, content_type)
        return of_article(url, found.title, found.body) if isinstance(found, Article) else ExamplePage(url)
    document = ArticleExtractor().document(html, base or url, content_type)
    if isinstance(document, Outcome):
        return ExamplePage(url)
    description = " ".join(document.metas.get(name, "") for name in _DESCRIPTIONS).strip()
    blocks: list[tuple[str, float, str]] = []
    left = _MAX_TEXT
    for block in tag_blocks(document):
        blocks.append((str(block.type), round(block.weight, 6), block.content[:left]))
        left -= len(block.content)
        if left <= 0:
            break
    return ExamplePage(url, document.title, description, tuple(blocks))
