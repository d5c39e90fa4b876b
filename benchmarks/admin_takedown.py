"""Set `takedown` of `make bench-admin`: pages of the demo are taken down with the form of the site, over HTTP.

seconds    longest time from the click until no address of the site and not Solr shows the page any more
returned   pages that the site or Solr shows after another run in which all URLs were due
"""

import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import requests

from benchmarks.demo_search_site import open_demo_site
from benchmarks.results import OURS, Figure
from domain.account import Role
from pipeline import stages
from pipeline.demo.run import FORM_TOKEN_RE
from pipeline.engine import Engine
from search_ui.passwords import hash_password

PAGES, FEW_PAGES = 20, 2
TIMEOUT_SECONDS = 120.0
POLL_SECONDS = 0.02
GONE = 410
ACCOUNT = "benchmark"
MIN_TRACES = 6  # addresses at which a page must be shown before it is taken down


@dataclass(frozen=True)
class ShownArticle:
    """An article that the site shows, and the id of an article that lists it as related ("" if none does)."""

    doc_id: str
    url: str
    title: str
    neighbour_id: str


def measure_takedown(few: bool) -> list[Figure]:
    """Return the figures of the set."""
    with open_demo_site() as (engine, site), requests.Session() as session:
        return measure_on_site(engine, site.url, session, FEW_PAGES if few else PAGES)


def measure_on_site(engine: Engine, site_url: str, session: requests.Session, count: int) -> list[Figure]:
    """Take `count` articles down on a running site, and run all stages again."""
    password = secrets.token_urlsafe(12)
    engine.store.accounts.create(ACCOUNT, hash_password(password), [Role.OPERATOR])
    sign_in(session, site_url, password)
    articles = shown_articles(engine, site_url, session, count)
    seconds = max(take_down(engine, site_url, session, article) for article in articles)
    engine.store.frontier.admin.requeue_urls("*")
    stages.run(engine)
    returned = sum(any(iter_traces(engine, site_url, session, article)) for article in articles)
    return [Figure("takedown", OURS, "seconds", seconds), Figure("takedown", OURS, "returned", returned)]


def sign_in(session: requests.Session, site_url: str, password: str) -> None:
    """Sign the session in as ACCOUNT."""
    form = {"token": form_token(session, f"{site_url}admin/login"), "name": ACCOUNT, "password": password}
    session.post(f"{site_url}admin/login", form).raise_for_status()


def form_token(session: requests.Session, url: str) -> str:
    """Return the token of the forms on a page."""
    token = FORM_TOKEN_RE.search(session.get(url).text)
    return token[1] if token else ""


def shown_articles(engine: Engine, site_url: str, session: requests.Session, count: int) -> list[ShownArticle]:
    """Return articles that are shown at all addresses, spread over the store."""
    stored_articles = list(engine.store.articles.iter_all())
    shown = []
    for article in stored_articles[:: max(1, len(stored_articles) // (2 * count))]:
        page = session.get(f"{site_url}api/v1/articles/{article.doc_id}").json()
        neighbours = [related["id"] for related in page.get("similar", ())]
        candidate = ShownArticle(article.doc_id, article.article.url, article.article.title, next(iter(neighbours), ""))
        if len(list(iter_traces(engine, site_url, session, candidate))) >= MIN_TRACES:
            shown.append(candidate)
        if len(shown) == count:
            return shown
    raise RuntimeError(f"only {len(shown)} articles are shown at {MIN_TRACES} addresses")


def take_down(engine: Engine, site_url: str, session: requests.Session, article: ShownArticle) -> float:
    """Take an article down with the form on its page. Returns the seconds from the click until no trace is left."""
    form = {
        "token": form_token(session, f"{site_url}article/{article.doc_id}"),
        "url": article.url,
        "reason": "measured",
    }
    started = time.monotonic()
    session.post(f"{site_url}admin/takedowns", form).raise_for_status()
    while traces := list(iter_traces(engine, site_url, session, article)):
        if time.monotonic() > started + TIMEOUT_SECONDS:
            raise RuntimeError(f"{article.url} is still shown: {', '.join(traces)}")
        time.sleep(POLL_SECONDS)
    return time.monotonic() - started


def iter_traces(engine: Engine, site_url: str, session: requests.Session, article: ShownArticle) -> Iterator[str]:
    """Yield the names of the addresses that show an article."""
    for name, address in article_addresses(article):
        if session.get(site_url + address).status_code != GONE:
            yield name
    query = {"q": f'"{article.title}"', "format": "json"}
    for name in ("search", "api/v1/search"):
        hits = session.get(site_url + name, params=query).json()["hits"]
        if article.url in {hit["url"] for hit in hits}:
            yield name
    for name in ("feed.atom", "feed.rss"):
        if article.url in session.get(site_url + name, params={"q": f'"{article.title}"'}).text:
            yield name
    suggestions = session.get(f"{site_url}suggest", params={"q": article.title[:-1], "format": "json"}).json()
    if article.title in {suggestion["text"] for suggestion in suggestions["suggestions"]}:
        yield "suggest"
    pages: Sequence[str] = ("", f"article/{article.neighbour_id}") if article.neighbour_id else ("",)
    for page in pages:
        if f"/article/{article.doc_id}" in session.get(site_url + page).text:
            yield page or "home"
    if engine.index.get(article.doc_id) is not None:
        yield "Solr"


def article_addresses(article: ShownArticle) -> list[tuple[str, str]]:
    """Return the names and paths of the pages of one article."""
    path = f"article/{article.doc_id}"
    return [
        ("article", path),
        ("saved page", f"{path}/original"),
        ("frame", f"{path}/original/page"),
        ("API article", f"api/v1/articles/{article.doc_id}"),
    ]
