"""Where scheme 2 of the feature library looks for pages: the engine's own index, or a search site by URL template."""

from collections.abc import Iterator
from math import log
from urllib.parse import quote, urlsplit

from crawler.guide import CONTENT, TITLE
from crawler.pages.links import links_of
from docstore import fields
from docstore.errors import PlumblineError
from docstore.model import Article, Page
from docstore.topics import ExamplePage
from extractor.article_extractor import ArticleExtractor
from focused.topic.library import SearchPlace
from pipeline.engine import Engine
from pipeline.page_source import SourcePage, apart, fetch_page
from pipeline.topic.pages import read_example

QUERY = "{query}"
INDEX, SEARCH = "index", "search"
_MAX_TRIED = 3  # times as many links of a result page are tried as results are wanted


def in_index(engine: Engine) -> SearchPlace:
    """The engine's own Solr; idf is that of all its documents."""
    anywhere = {
        "q": "{!bool should=$in_title should=$in_body}",
        "in_title": f"{{!field f={fields.TITLE} v=$words}}",
        "in_body": f"{{!field f={fields.BODY} v=$words}}",
    }
    total = engine.index.count()

    def find(term: str, most: int) -> Iterator[ExamplePage]:
        if not any(map(str.isalnum, term)):
            return  # Solr has no question for what holds no word
        wanted = f"{fields.URL},{fields.TITLE},{fields.BODY}"
        answer = engine.index.search({**anywhere, "words": term, "rows": most, "fl": wanted})
        for doc in answer["response"]["docs"]:
            yield of_article(doc[fields.URL], doc[fields.TITLE], doc[fields.BODY])

    def idf(word: str) -> float:
        answer = engine.index.search({"q": f"{{!field f={fields.BODY} v=$words}}", "words": word, "rows": 0})
        return log((total + 1) / (answer["response"]["numFound"] + 1))

    return SearchPlace(INDEX, find, idf)


def by_template(engine: Engine, template: str) -> SearchPlace:
    """Asks a search site as politely as any other, and follows the links of its answer that lead elsewhere.

    PlumblineError for a template without a place for the query.
    """
    if QUERY not in template:
        raise PlumblineError(f"--search {template}: put {QUERY} where the words go, as https://example.org/?q={QUERY}")

    def find(term: str, most: int) -> Iterator[ExamplePage]:
        answer = fetch_page(template.replace(QUERY, quote(term)), engine.settings.crawl)
        left = most
        for url in results_on(answer)[: most * _MAX_TRIED]:
            try:
                yield article_from(fetch_page(url, engine.settings.crawl), engine)
            except PlumblineError as error:
                engine.progress.note(f"left out: {error}")
                continue
            left -= 1
            if not left:
                return

    return SearchPlace(SEARCH, find)


def results_on(answer: SourcePage) -> list[str]:
    """The URLs on a page of results that lead to another host, in order; of its own, where there are none."""
    page = Page(0, answer.url, answer.url, 200, answer.content_type, answer.html, "", answer.fetched_at)
    links = [link.url for link in links_of(page).links if link.anchor]
    elsewhere = [url for url in links if urlsplit(url).netloc != urlsplit(answer.url).netloc]
    return elsewhere or links


def of_article(url: str, title: str, body: str) -> ExamplePage:
    """An article without what stands around it."""
    return ExamplePage(url, title, "", ((TITLE, 0.5, title), (CONTENT, 0.5, body)))


def article_from(page: SourcePage, engine: Engine) -> ExamplePage:
    """The article of a page; the whole page where it has none."""
    extract = ArticleExtractor(engine.settings.extract).extract
    found = apart(page, extract, page.html, page.url, page.content_type)
    return of_article(page.url, found.title, found.body) if isinstance(found, Article) else example_from(page)


def example_from(page: SourcePage) -> ExamplePage:
    """The page as a topic keeps it."""
    return apart(page, read_example, page.url or page.name, page.html, page.content_type)
