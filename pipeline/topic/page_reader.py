"""Reads pages for a focused crawl: text blocks of the extractor, segmented with lexicon and topic terms."""

import logging
from collections.abc import Iterable

from crawler.focused_policy import BLOCK_CONTENT, BLOCK_TITLE
from crawler.workers.worker_process import Limits, WorkerError, WorkerPool
from domain.article import Article
from domain.outcome import Outcome
from domain.page import Page
from domain.paper_settings import DEFAULT_PAPERS, WuYuetingSettings
from domain.term import Lexicon
from domain.topic import ExamplePage
from extractor.article_extractor import ArticleExtractor
from extractor.body_methods.tag_blocks import build_tag_blocks
from extractor.documents.reader import read_document
from extractor.settings import ExtractSettings
from lexicon.jieba_dictionary import find_term_error
from pipeline.workers.page_reading import is_document
from text.segment import RjiebaSegmenter, Segmenter

log = logging.getLogger(__name__)

_DESCRIPTION_METAS = ("description", "keywords")  # Zhou uses <title>, meta description and meta keywords
WORKERS = 2  # a page that takes long does not stop the crawl
_MAX_TEXT_LENGTH = 200_000  # characters of a page that are read


def create_topic_segmenter(lexicon: Lexicon, terms: Iterable[str]) -> Segmenter:
    """Create a segmenter for the terms of the lexicon and of a topic."""
    lexicon_texts = {entry.text for entry in lexicon.entries}
    extra_terms = dict.fromkeys(term for term in terms if term not in lexicon_texts and not find_term_error(term))
    return RjiebaSegmenter(
        [
            *((entry.text, entry.frequency, entry.pos_tag) for entry in lexicon.entries),
            *((term, 0, "n") for term in extra_terms),
        ]
    )


class PageReader:
    """Reads pages and documents of a crawl, in worker processes. Thread-safe. Close it after use."""

    def __init__(self, settings: ExtractSettings, wu_yueting: WuYuetingSettings = DEFAULT_PAPERS.wu_yueting) -> None:
        self._wu_yueting = wu_yueting
        self._pool = WorkerPool(WORKERS, Limits(settings.document_seconds, settings.document_mb), [__name__])

    def read(self, page: Page) -> ExamplePage:
        """Read a page of the crawl as `read_example` does.

        A page that cannot be read gives an example with only its URL.
        """
        try:
            return self._pool.call(
                read_example, page.url, page.body, page.content_type, page.final_url, self._wu_yueting
            )
        except WorkerError as error:
            log.info("%s cannot be read: %s", page.url, error)
            return ExamplePage(page.url)

    def close(self) -> None:
        """Terminate the worker processes, if any runs."""
        self._pool.close()


def article_to_example(url: str, title: str, body: str) -> ExamplePage:
    """Convert an article without the rest of its page."""
    return ExamplePage(url, title, "", ((BLOCK_TITLE, 0.5, title), (BLOCK_CONTENT, 0.5, body[:_MAX_TEXT_LENGTH])))


def read_example(
    url: str,
    html: bytes,
    content_type: str = "",
    base_url: str = "",
    settings: WuYuetingSettings = DEFAULT_PAPERS.wu_yueting,
) -> ExamplePage:
    """Read the text of a page: title, description and blocks (WY-F1 to F5).

    A page that cannot be read gives an example with only its URL. `base_url` is the final URL after redirects, if it
    differs from `url`.
    """
    if is_document(html, url, content_type):
        article = read_document(html, url, content_type)
        return (
            article_to_example(url, article.title, article.body) if isinstance(article, Article) else ExamplePage(url)
        )
    document = ArticleExtractor().parse_page(html, base_url or url, content_type)
    if isinstance(document, Outcome):
        return ExamplePage(url)
    description = " ".join(document.metas.get(name, "") for name in _DESCRIPTION_METAS).strip()
    blocks: list[tuple[str, float, str]] = []
    remaining = _MAX_TEXT_LENGTH
    for block in build_tag_blocks(document, settings):
        blocks.append((str(block.type), round(block.weight, 6), block.text[:remaining]))
        remaining -= len(block.text)
        if remaining <= 0:
            break
    return ExamplePage(url, document.title, description, tuple(blocks))
