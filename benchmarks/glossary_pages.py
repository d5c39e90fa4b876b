"""The sets `inline` and `pages` of `make bench-glossary`: what readers see of a large glossary.

    inline added_ms          median processor time that finding the defined terms adds to an article of 3,000
                             characters, with 100,000 terms
           axe_findings      findings of axe on an article page with an open card, in both languages at two widths
           layout_shift      cumulative layout shift of these pages, until a card is open
    pages  terms_first_ms    processor time until the first list of 100,000 terms after a start
           term_page_p95_ms  95th percentile of the time of a term page, with ARTICLES generated articles in a real Solr

Articles and terms come from the news in DIR/bursts: texts of 3,000 characters, and runs of one to three words.
"""

import logging
import random
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from werkzeug.serving import make_server

from benchmarks.glossary_bursts import read_articles
from benchmarks.results import OURS, Figure
from domain.article import Article, StoredArticle, document_id
from domain.batches import batched
from domain.errors import PlumblineError
from domain.term import Definition, Term, TermStatus
from indexer.document_mapping import TextAnalysis, to_solr_document
from indexer.embedded_solr import EmbeddedSolr
from indexer.settings import IndexSettings
from indexer.solr_index import SolrIndex
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.review_service import StoreReview
from pipeline.search_site.search_app import create_search_app
from pipeline.settings import Settings
from search_ui.glossary import Glossary, GlossaryTerm
from search_ui.pages.inline_definitions import find_defined_terms
from search_ui.settings import SearchSettings
from text.segment import Segmenter, base_segmenter

LARGE_GLOSSARY_TERMS = 100_000
ARTICLE_CHARS = 3_000
INDEXED_CHARS = 600
TIMED_ARTICLES = 100
TIMED_PAGES = 200
MAX_INDEXED_TERMS = 500
BATCH_ARTICLES = 500
COLLECTION = "glossary_pages"
SITES, SECTIONS, AUTHORS = 40, 12, 300


def reader_figures(data: Path, article_count: int) -> Iterator[Figure]:
    """Yield the rows of both sets. Without articles, only those that need neither Solr nor a browser.

    Args:
        data: A folder of the form of ../shared/data.
        article_count: Number of articles in Solr.
    """
    text = "\n".join(article.text for article in read_articles(data / "bursts"))
    names = generate_names(text, LARGE_GLOSSARY_TERMS)
    glossary = Glossary(tuple(map(GlossaryTerm, names)))
    yield Figure("pages", OURS, "terms_first_ms", time_ms(glossary.select_terms))
    yield Figure("inline", OURS, "added_ms", measure_added_ms(text, glossary))
    if article_count:
        with served_articles(text, article_count) as (app, terms, doc_id):
            client = app.test_client()
            random.Random(2).shuffle(terms)
            client.get(f"/term/{terms[0]}")  # opens connections
            addresses = [f"/term/{term}" for term in terms[:TIMED_PAGES]]
            times = [time_ms(partial(client.get, address), time.perf_counter) for address in addresses]
            yield Figure("pages", OURS, "term_page_p95_ms", sorted(times)[int(0.95 * len(times))])
            findings, shift = inspect_article_page(app, f"/article/{doc_id}")
            yield Figure("inline", OURS, "axe_findings", findings)
            yield Figure("inline", OURS, "layout_shift", shift)


def generate_names(text: str, count: int) -> list[str]:
    """Return the words of a text, then runs of them, as names of terms."""
    words = sorted({word for word in base_segmenter().cut(text[:2_000_000]) if len(word) > 1 and word.isalpha()})
    chance, names = random.Random(1), set(words[:count])
    while len(names) < count:
        names.add("".join(chance.choices(words, k=chance.choice((2, 3)))))
    return sorted(names)


def time_ms(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Return the milliseconds of a call: processor time, or that of another clock."""
    started = clock()
    work()
    return 1000 * (clock() - started)


def measure_added_ms(text: str, glossary: Glossary) -> float:
    """Return the median time that finding the defined terms takes in an article. Every second term is defined."""
    counts = {term.text: index for index, term in enumerate(glossary.terms[::2])}
    segmenter: Segmenter = base_segmenter()
    articles = [
        text[start : start + ARTICLE_CHARS] for start in range(0, TIMED_ARTICLES * ARTICLE_CHARS, ARTICLE_CHARS)
    ]
    find_defined_terms(articles[0].split("\n"), glossary, counts, segmenter)  # builds the lookup tables
    return statistics.median(
        time_ms(partial(find_defined_terms, article.split("\n"), glossary, counts, segmenter)) for article in articles
    )


@contextmanager
def served_articles(text: str, count: int) -> Iterator[tuple[Any, list[str], str]]:
    """Fill Solr and a store. Yields the site, its terms, and the id of an article with defined terms."""
    terms = [name for name in generate_names(text, 3 * MAX_INDEXED_TERMS) if name in text][:MAX_INDEXED_TERMS]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with EmbeddedSolr(folder / "solr-home", IndexSettings(solr_heap="1g", start_timeout=600)) as solr:
            settings = Settings(
                folder,
                index=IndexSettings(solr_url=solr.url, collection=COLLECTION),
                search=SearchSettings(timeout=30.0),
            )
            with Engine(settings, NullProgress()) as engine:
                engine.store.lexicons.replace_candidates([Term(term, 1.0, 9, 9) for term in terms])
                review_service = StoreReview(engine.store)
                review_service.decide(terms, TermStatus.ACCEPTED, "")
                review_service.publish("")
                engine.store.lexicons.mark_applied(1, ())
                definitions = [
                    Definition(
                        term, "zh", f"{term}是一个词。", index, "https://a.example/", "来源", "2024-05-01", 0.9, 1.0
                    )
                    for index, term in enumerate(terms, 1)
                ]
                engine.store.definitions.save(definitions, (), 1, 1.0)
                doc_id = fill_index(solr.url, text, count, engine.analysis())
                yield create_search_app(engine, opens_solr=True), terms, doc_id


def fill_index(url: str, text: str, count: int, analysis: TextAnalysis) -> str:
    """Index generated articles of ten years. Returns the id of the first."""
    index, chance = SolrIndex(url, COLLECTION, 300.0), random.Random(1)
    index.ensure_collection()
    for numbers in batched(range(count), BATCH_ARTICLES):
        articles = [generate_article(number, text, chance) for number in numbers]
        index.add([to_solr_document(article, analysis) for article in articles])
    index.commit(soft=False)
    return generate_article(0, text, random.Random(1)).doc_id


def generate_article(number: int, text: str, chance: random.Random) -> StoredArticle:
    """Return an article with a part of the text, a date, a section and an author."""
    site, start = f"site{number % SITES}.example", chance.randrange(len(text) - INDEXED_CHARS)
    url = f"http://{site}/{number}"
    body = text[start : start + INDEXED_CHARS]
    published = f"{2015 + chance.randrange(10)}-{1 + chance.randrange(12):02}-{1 + chance.randrange(28):02}"
    section, author = f"栏目{chance.randrange(SECTIONS)}", f"作者{chance.randrange(AUTHORS)}"
    article = Article(url, body[:20].replace("\n", " "), body, published, section=section, author=author)
    stored = StoredArticle(number, document_id(url), site, article)
    return replace(stored, citation_count=chance.randrange(4))


def inspect_article_page(app: Any, path: str) -> tuple[int, float]:
    """Return the number of findings of axe, and the largest layout shift, of an article page with an open card.

    Raises:
        PlumblineError: There is no chromium, or no term of the page is underlined.
    """
    from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if chromium is None:
        raise PlumblineError("there is no chromium: apt-get install chromium")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it prints every request
    server = make_server("127.0.0.1", 0, app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    findings, shifts = 0, []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for language, width in (("zh", 1280), ("zh", 390), ("en", 1280), ("en", 390)):
            page = browser.new_page(viewport={"width": width, "height": 800})
            page.set_default_timeout(300_000)
            page.add_init_script(OBSERVE_SHIFT)
            page.goto(f"http://127.0.0.1:{server.server_port}{path}?lang={language}")
            if not page.locator("a.defined").count():
                raise PlumblineError(f"no term is underlined in {path}")
            page.locator("a.defined").first.focus()
            page.locator(".definition-card").first.wait_for(state="visible")
            findings += len(Axe().run(page).response["violations"])
            shifts.append(float(page.evaluate("window.layoutShift")))
            page.close()
        browser.close()
    server.shutdown()
    return findings, max(shifts)


OBSERVE_SHIFT = """
window.layoutShift = 0;
new PerformanceObserver(list => list.getEntries().forEach(entry => { window.layoutShift += entry.value; })).observe(
    {type: "layout-shift", buffered: true});
"""
