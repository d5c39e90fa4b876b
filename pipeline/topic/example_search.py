"""Search sources for scheme 2 of the topic library: the engine's own index, or a search site given as URL template."""

from collections.abc import Iterator
from math import log
from urllib.parse import quote, urlsplit

from crawler.parsing.links import parse_page
from domain.article import Article
from domain.errors import PlumblineError
from domain.page import Page
from domain.topic import ExamplePage
from focused.topic.term_proposals import SearchSource
from pipeline.engine import Engine
from pipeline.page_source import LoadedPage, fetch_page, run_isolated
from pipeline.topic.page_reader import article_to_example, read_example
from pipeline.workers.page_reading import read_article
from solr_client import solr_fields

QUERY_PLACEHOLDER = "{query}"
INDEX_ORIGIN, SEARCH_ORIGIN = "index", "search"
_LINKS_PER_RESULT = 3  # links of a results page that are tried for each requested result


def index_search(engine: Engine) -> SearchSource:
    """Search the engine's own Solr index. The idf is computed over all its documents."""
    base_query = {
        "q": "{!bool should=$in_title should=$in_body}",
        "in_title": f"{{!field f={solr_fields.TITLE} v=$words}}",
        "in_body": f"{{!field f={solr_fields.BODY} v=$words}}",
    }
    total = engine.index.count()

    def find(term: str, limit: int) -> Iterator[ExamplePage]:
        if not any(map(str.isalnum, term)):
            return  # a term without a letter or digit makes an empty Solr query
        field_list = f"{solr_fields.URL},{solr_fields.TITLE},{solr_fields.BODY}"
        response = engine.index.search({**base_query, "words": term, "rows": limit, "fl": field_list})
        for doc in response["response"]["docs"]:
            yield article_to_example(doc[solr_fields.URL], doc[solr_fields.TITLE], doc[solr_fields.BODY])

    def idf(word: str) -> float:
        response = engine.index.search({"q": f"{{!field f={solr_fields.BODY} v=$words}}", "words": word, "rows": 0})
        return log((total + 1) / (response["response"]["numFound"] + 1))

    return SearchSource(INDEX_ORIGIN, find, idf)


def template_search(engine: Engine, template: str) -> SearchSource:
    """Search a website through a URL template, and fetch the results that link to other hosts.

    Requests follow the crawl settings, as for any other site. Raises PlumblineError if the template has no placeholder
    for the query.
    """
    if QUERY_PLACEHOLDER not in template:
        raise PlumblineError(
            f"--search {template}: the URL needs the placeholder {QUERY_PLACEHOLDER}, such as "
            f"https://example.org/?q={QUERY_PLACEHOLDER}"
        )

    def find(term: str, limit: int) -> Iterator[ExamplePage]:
        result_page = fetch_page(template.replace(QUERY_PLACEHOLDER, quote(term)), engine.settings.crawl)
        remaining = limit
        for url in result_urls(result_page)[: limit * _LINKS_PER_RESULT]:
            try:
                yield extract_example(fetch_page(url, engine.settings.crawl), engine)
            except PlumblineError as error:
                engine.progress.note(f"skipped: {error}")
                continue
            remaining -= 1
            if not remaining:
                return

    return SearchSource(SEARCH_ORIGIN, find)


def result_urls(result_page: LoadedPage) -> list[str]:
    """Return the link URLs of a results page that lead to other hosts, in page order.

    If there are no such links, return the links to the same host.
    """
    page = Page(
        0, result_page.url, result_page.url, 200, result_page.content_type, result_page.body, "", result_page.fetched_at
    )
    links = [link.url for link in run_isolated(result_page, parse_page, page).links if link.anchor]
    external_links = [url for url in links if urlsplit(url).netloc != urlsplit(result_page.url).netloc]
    return external_links or links


def extract_example(page: LoadedPage, engine: Engine) -> ExamplePage:
    """Return the article of a page as an example; the complete page if it has no article."""
    settings = engine.settings.extract
    article = run_isolated(page, read_article, page.body, page.url, page.content_type, page.fetched_at, settings)
    return (
        article_to_example(page.url, article.title, article.body)
        if isinstance(article, Article)
        else loaded_page_to_example(page, engine)
    )


def loaded_page_to_example(page: LoadedPage, engine: Engine) -> ExamplePage:
    """Convert a page to an example of a topic."""
    settings = engine.settings.papers.wu_yueting
    return run_isolated(page, read_example, page.url or page.label, page.body, page.content_type, "", settings)
