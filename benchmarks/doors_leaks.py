"""The part `leaks` of `make bench-doors`: what signed-out readers learn of articles that only signed-in readers find.

Two verticals are equal except that one has articles of a private site, one of each kind. Probes ask every public
place for each of them, in several forms. A leak is a response that differs between the two: status, headers or body.
"""

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import BuildError, Rule
from werkzeug.test import TestResponse

from docstore.articles.extraction_writer import PageExtraction
from docstore.articles.stories import story_id
from domain.account import Role
from domain.article import Article, StoredArticle, document_id
from domain.curation import CurationAction
from domain.frontier import NewUrl, UrlKind, Visit
from domain.outcome import Outcome, Reason
from domain.page import Host, Page
from domain.review import ReviewDecisionKind, TermEdit
from domain.rising_term import RisingTerm
from domain.search_log import SIGNED_IN_MARK, LoggedSearch
from domain.term import Definition, TermStatus
from indexer.document_mapping import to_solr_document
from pipeline.engine import Engine
from pipeline.lexicon_stage.lexicon_review import LexiconReview
from pipeline.operations import run_command
from pipeline.progress import NullProgress
from pipeline.search_site.search_app import create_search_app
from pipeline.settings import build_settings

PRIVATE = "portal.example"
PUBLIC_TERM, OWN_TERM = "储层改造", "苍穹压裂法"
TODAY = date.today().isoformat()
EARLIER = (date.today() - timedelta(days=2)).isoformat()
STRANGER = {"REMOTE_ADDR": "192.0.2.7"}  # metrics and other tools of the machine answer its own requests
VOCABULARY_SECONDS = 120.0


@dataclass(frozen=True)
class Planted:
    """An article with what identifies it.

    Attributes:
        words: Words that no other article has.
        misspelling: One of them with an error.
        story: Number of the first article of its story, or None.
        copy_of: Number of the first of its near-duplicates, or None.
    """

    number: int
    host: str
    title: str
    body: str
    published: str
    words: str
    misspelling: str
    content_type: str = "text/html"
    story: int | None = None
    copy_of: int | None = None
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def url(self) -> str:
        """The URL."""
        return f"https://{self.host}/{self.number}.html"

    @property
    def doc_id(self) -> str:
        """The id in the index."""
        return document_id(self.url)

    @property
    def is_private(self) -> bool:
        """True if only signed-in readers find it."""
        return self.host == PRIVATE


def _plant(
    number: int, host: str, title: str, text: str, published: str, words: str, typo: str, **more: Any
) -> Planted:
    names = ("author", "section", "language", "picture", "format", "source")
    fields = tuple((name, more.pop(name)) for name in names if name in more)
    return Planted(number, host, title, f"{title}。\n{text}", published, words, typo, **more, fields=fields)


GAS = "页岩气水平井的产量比去年增加了一成，两家公司今天公布了数字。"
PUBLIC_ARTICLES = (
    _plant(
        1,
        "news.example",
        "页岩气产量创新高",
        GAS,
        "2024-03-01",
        "创新高",
        "创辛高",
        story=1,
        author="李明",
        section="要闻",
    ),
    _plant(2, "daily.example", "页岩气产量大增", f"{GAS}记者从现场了解到。", "2024-03-02", "大增", "大憎", story=1),
    _plant(
        3,
        "paper.example",
        f"{PUBLIC_TERM}技术综述",
        f"{PUBLIC_TERM}是提高产量的方法。",
        "2024-04-05",
        "综述",
        "踪述",
        author="王芳",
    ),
    _plant(
        4,
        "news.example",
        "Shale output rises again",
        "Shale wells yielded more in spring, said the ministry.",
        "2024-05-06",
        "ministry",
        "minstry",
        language="en",
    ),
    _plant(
        5, "daily.example", "碳排放交易市场运行平稳", "碳排放配额的价格上涨。", EARLIER, "配额", "配颔", section="要闻"
    ),
    _plant(
        6,
        "news.example",
        "琉璃河输水工程通水",
        "琉璃河输水工程今天通水，全长九十公里。本报转载。",
        "2024-06-07",
        "琉璃河",
        "琉离河",
        copy_of=106,
    ),
    _plant(
        7,
        "paper.example",
        "曙光堆完成换料",
        "曙光堆在检修以后完成换料，恢复发电。",
        "2024-07-08",
        "曙光堆",
        "署光堆",
        story=108,
    ),
    _plant(
        8,
        "daily.example",
        "琉璃河输水工程通水",
        "琉璃河输水工程今天通水，全长九十公里。据报道。",
        "2024-06-08",
        "据报道",
        "据报到",
        copy_of=106,
    ),
)
PRIVATE_ARTICLES = (
    _plant(
        101,
        PRIVATE,
        "曜石计划内部通报",
        "曜石计划的预算已经批准，秋季开工。",
        "2023-01-11",
        "曜石计划",
        "曜石计化",
        author="赵一",
        section="内参",
    ),
    _plant(
        102,
        PRIVATE,
        "琥珀管线评估报告",
        "琥珀管线的腐蚀速度高于设计值。",
        "2023-02-12",
        "琥珀管线",
        "琥泊管线",
        content_type="application/pdf",
        format="pdf",
        author="钱二",
    ),
    _plant(
        103,
        PRIVATE,
        "玄武平台照片",
        "玄武平台的照片由工人拍摄。",
        "2023-03-13",
        "玄武平台",
        "玄武平苔",
        picture=f"https://{PRIVATE}/a.png",
        author="孙三",
    ),
    _plant(
        104,
        PRIVATE,
        "页岩气产量增加一成",
        f"{GAS}青鸾井组贡献最大。",
        "2024-03-02",
        "青鸾井组",
        "青鸾井祖",
        story=1,
        author="李四",
    ),
    _plant(
        106,
        PRIVATE,
        "琉璃河输水工程通水",
        "琉璃河输水工程今天通水，全长九十公里。",
        "2024-06-06",
        "琉璃河输水工程",
        "琉离河输水工程",
        author="周五",
    ),
    _plant(
        107,
        PRIVATE,
        f"{OWN_TERM}说明",
        f"{OWN_TERM}是一种不用水的工艺。{OWN_TERM}由本院提出。",
        "2023-07-17",
        OWN_TERM,
        "苍穹压列法",
        author="吴六",
    ),
    _plant(
        108,
        PRIVATE,
        "曙光堆换料费用",
        "曙光堆换料的费用没有公开，绛云公司承包。",
        TODAY,
        "绛云公司",
        "绛云公斯",
        story=108,
        author="郑七",
    ),
    _plant(
        109,
        PRIVATE,
        "Forage du bassin de Valdoisie",
        "Le forage du bassin de Valdoisie commence en automne.",
        "2023-09-19",
        "Valdoisie",
        "Valdosie",
        language="fr",
        author="Dubois",
    ),
    _plant(
        110,
        PRIVATE,
        f"{PUBLIC_TERM}的内部标准",
        f"{PUBLIC_TERM}是指用银杏剂处理岩层的工艺。",
        "2023-10-20",
        "银杏剂",
        "银杏济",
        author="王八",
        source="内部",
    ),
)
DEFINITIONS = (
    (3, PUBLIC_TERM, f"{PUBLIC_TERM}是提高产量的方法。"),
    (107, OWN_TERM, f"{OWN_TERM}是一种不用水的工艺。"),
    (110, PUBLIC_TERM, f"{PUBLIC_TERM}是指用银杏剂处理岩层的工艺。"),
)
GONE = f"https://{PRIVATE}/gone.html"  # taken down


@contextmanager
def open_vertical(solr_url: str, folder: Path, has_private: bool) -> Iterator[tuple[Engine, Flask]]:
    """Yield the engine and the search site of a vertical with a private site; its articles are there or missing.

    Args:
        solr_url: URL of a running Solr.
        folder: An empty folder for the store.
        has_private: The store and the index have the articles of the private site.
    """
    sections: dict[str, Any] = {
        "embed": {"model": "off"},
        "index": {"solr_url": solr_url, "collection": f"doors_{folder.name}"},
        "search": {"timeout": 60.0, "developer_tools": True, "log_days": 0, "base_url": "https://search.example/"},
        "sites": [{"host": PRIVATE, "readers": "signed-in"}],
    }
    with Engine(build_settings(sections, folder), NullProgress()) as engine:
        articles = [*PUBLIC_ARTICLES, *(PRIVATE_ARTICLES if has_private else ())]
        fill_store(engine, articles)
        engine.index.ensure_collection()
        stored = {article.doc_id: article for article in engine.store.articles.iter_all()}
        related = [relate(stored[planted.doc_id], planted, articles) for planted in articles]
        assert engine.index.add([to_solr_document(article, engine.analysis()) for article in related]) == {}
        engine.index.commit()
        (engine.settings.data_dir / "session.key").write_text("k" * 64)  # so that what both sites sign is equal
        app = create_search_app(engine)
        await_vocabulary(app)
        yield engine, app
        engine.index.delete_all()


def relate(stored: StoredArticle, planted: Planted, articles: Sequence[Planted]) -> StoredArticle:
    """Return an article with its story and its near-duplicates among the articles of the vertical."""
    by_number = {other.number: other for other in articles}
    copies = [other for other in articles if other.copy_of and other.copy_of == planted.copy_of]
    leader = by_number.get(planted.copy_of, copies[0]) if planted.copy_of else planted
    hosts = {other.host for other in articles if planted.story and other.story == planted.story}
    first = by_number.get(planted.story) if planted.story and len(hosts) > 1 else None
    return replace(
        stored,
        duplicate_of="" if leader is planted else leader.doc_id,
        story_id=story_id(first.doc_id) if first else "",
    )


def fill_store(engine: Engine, articles: Sequence[Planted]) -> None:
    """Save the articles with their pages, and what editors, readers and the lexicon stage left of them."""
    store, now = engine.store, time.time()
    urls = [planted.url for planted in articles]
    store.frontier.add_urls([NewUrl(url, Host(urlsplit(url).netloc), 0, 0, UrlKind.UNKNOWN, 0.0) for url in urls])
    entries = store.frontier.find_entries(urls)
    for planted in articles:
        body = f"<title>{planted.title}</title><p>{planted.body}".encode()
        digest, entry = hashlib.sha256(body).hexdigest(), entries[planted.url]
        page = Page(entry.url_id, entry.url, entry.url, 200, planted.content_type, body, digest, 1.7e9)
        store.frontier.record_visits([Visit(entry, Outcome(Reason.FETCHED), 1.7e9, None, 0.0, page=page)])
    by_url = {planted.url: planted for planted in articles}
    store.articles.save(
        [PageExtraction(page, make_article(by_url[page.url])) for page in list(store.articles.iter_pending())]
    )
    terms = [TermEdit(text, TermStatus.ACCEPTED, create_if_missing=True) for text in (PUBLIC_TERM, OWN_TERM, "页岩气")]
    store.review_history.apply(ReviewDecisionKind.ADD, terms, "anna")
    store.lexicons.mark_applied(LexiconReview(store).publish("anna", is_confirmed=True).version, [])
    by_number = {planted.number: planted for planted in articles}
    store.definitions.save(
        [
            Definition(
                term,
                "zh",
                text,
                entries[by_number[n].url].url_id,
                by_number[n].url,
                by_number[n].title,
                "",
                0.99 + n / 1e5,
                1.0,
            )
            for n, term, text in DEFINITIONS
            if n in by_number
        ],
        (),
    )
    rising = [RisingTerm("页岩气", EARLIER, 0, 0)]
    if any(planted.is_private for planted in articles):
        rising.append(RisingTerm(OWN_TERM, EARLIER, 8, 0))
        store.takedowns.take_down(GONE, "anna", "asked for", 1)
        for planted in PRIVATE_ARTICLES:
            for action, query in ((CurationAction.PIN, "页岩气"), (CurationAction.HIDE, "产量")):
                key = {"query": query, "doc_id": planted.doc_id, "with_synonyms": False, "expires_at": None}
                run_command(engine, "curation_create", "anna", action=action, reason="good", **key)
        days = [now - 86_400 * n for n in range(1, 6)]
        private_words = [planted.words for planted in PRIVATE_ARTICLES]
        store.search_log.save([search(words, day, SIGNED_IN_MARK) for words in private_words for day in days], ())
    store.rising_terms.save(rising)
    store.search_log.save([search("页岩气 产量", now - 86_400 * n, "") for n in range(1, 6)], ())
    store.accounts.create("reader", "!", [Role.READER])


def search(query: str, searched_at: float, filters: str) -> LoggedSearch:
    """Return a search of the log."""
    return LoggedSearch(f"{query} {searched_at}", query, 3, 5, filters=filters, searched_at=searched_at)


def make_article(planted: Planted) -> Article:
    """Return the article of a page."""
    fields: dict[str, Any] = {"language": "zh", **dict(planted.fields)}
    return Article(planted.url, planted.title, planted.body, planted.published, "url", **fields)


def await_vocabulary(app: Flask) -> None:
    """Wait until the site has loaded the words for suggestions, which it does in the background."""
    client, deadline = app.test_client(), time.monotonic() + VOCABULARY_SECONDS
    while "产量" not in client.get("/suggest?q=页岩气&format=json", environ_base=STRANGER).get_data(as_text=True):
        if time.monotonic() > deadline:
            raise TimeoutError("the words for suggestions were not loaded")
        time.sleep(0.1)


# -- probes


@dataclass(frozen=True)
class Probe:
    """A request of a signed-out reader. `arguments` are JSON for paths of programs, else a form."""

    endpoint: str
    path: str
    arguments: Mapping[str, Any] | None = None

    def send(self, client: FlaskClient) -> TestResponse:
        """Return the response."""
        options: dict[str, Any] = {"environ_base": STRANGER, "headers": {"Accept-Language": "en"}}
        if self.endpoint in ("connect.mcp", "connect.retrieval"):
            options["headers"] |= {"Accept": "application/json, text/event-stream"}
            return client.post(self.path, json=self.arguments, **options)
        if self.arguments is not None:
            return client.post(self.path, data=self.arguments, **options)
        return client.get(self.path, **options)


def all_forms(planted: Planted) -> list[str]:
    """Return the queries for an article: in words, by title, as a phrase, by its values, and misspelt."""
    fields = dict(planted.fields)
    return [
        planted.words,
        planted.title,
        f'"{planted.words}"',
        f"title:{planted.words}",
        planted.misspelling,
        planted.words[: max(2, len(planted.words) - 2)],
        fields.get("author", planted.words[:1]),
        planted.doc_id,
        planted.url,
        f"site:{planted.host}",
        f"页岩气 -{planted.words}",
        f"after:{planted.published} before:{planted.published}",
        f"{planted.words}是什么",
        f"页岩气 {planted.words}",
    ]


def _filters(planted: Planted) -> list[str]:
    fields = dict(planted.fields)
    names = {"site": planted.host, "from": planted.published, "language": fields.get("language", "zh")}
    names |= {name: fields[name] for name in ("author", "section", "format") if name in fields}
    return [f"{name}={quote(value)}" for name, value in names.items()]


def _call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def _every_form(path: str) -> Callable[[Planted], list[str]]:
    return lambda planted: [path.format(quote(form)) for form in all_forms(planted)]


def _some_forms(path: str, *positions: int) -> Callable[[Planted], list[str]]:
    return lambda planted: [path.format(quote(all_forms(planted)[n])) for n in positions or (0, 1, 8)]


PLACES: Mapping[str, Sequence[Callable[[Planted], Sequence[str]]]] = {
    "public.home": [lambda _: ["/", "/?lang=zh"]],
    "public.search": [
        _every_form("/search?q={}"),
        _some_forms("/search?q={}&format=json"),
        _some_forms("/search?q={}&sort=date", 0, 13),
        lambda planted: [f"/search?{each}" for each in _filters(planted)],
        lambda planted: [f"/search?-{each}" for each in _filters(planted) if not each.startswith("from")],
        lambda planted: [f"/search?cluster={planted.doc_id}", f"/search?term={quote(planted.words)}"],
    ],
    "api.search": [
        _every_form("/api/v1/search?q={}"),
        _some_forms("/api/v1/search?q={}&format=bibtex", 0, 9),
        lambda planted: [
            f"/api/v1/search?cluster={planted.doc_id}&q=a",
            f"/api/v1/search?q=页岩气&from={planted.published}",
        ],
    ],
    "public.article": [
        lambda planted: [f"/article/{planted.doc_id}", f"/article/{planted.doc_id}?q={quote(planted.words)}"]
    ],
    "api.article": [
        lambda planted: [f"/api/v1/articles/{planted.doc_id}{more}" for more in ("", "?q=页岩气", "?format=ris")]
    ],
    "originals.show_original": [lambda planted: [f"/article/{planted.doc_id}/original"]],
    "originals.frame": [lambda planted: [f"/article/{planted.doc_id}/original/page"]],
    "originals.file": [lambda planted: [f"/article/{planted.doc_id}/original/file"]],
    "pictures.thumbnail": [lambda planted: [f"/picture/{planted.doc_id}"]],
    "public.story": [
        lambda planted: [f"/story/{story_id(planted.doc_id)}", f"/story/{story_id(PUBLIC_ARTICLES[0].doc_id)}"]
    ],
    "filter_values.show_values": [
        lambda planted: [f"/filter/{name}?q={quote(planted.words)}" for name in ("sites", "authors", "terms")],
        lambda planted: [f"/filter/{name}?q=页岩气&contains={quote(planted.host)}" for name in ("sites", "sections")],
    ],
    "feeds.feed": [_some_forms("/feed.atom?q={}"), _some_forms("/feed.rss?q={}", 0, 9)],
    "suggestions.suggest": [_every_form("/suggest?q={}"), _some_forms("/suggest?q={}&format=json", 0, 1, 5)],
    "api.suggest": [_some_forms("/api/v1/suggest?q={}", 0, 1, 4, 5)],
    "glossary.term": [_some_forms("/term/{}", 0, 1), lambda _: [f"/term/{quote(PUBLIC_TERM)}"]],
    "glossary.term_list": [_some_forms("/terms?q={}", 0, 5), lambda _: ["/terms", "/terms?new=1"]],
    "glossary.printed_terms": [_some_forms("/terms/print?q={}", 0), lambda _: ["/terms/print"]],
    "glossary.sitemap": [lambda _: ["/sitemap.xml"]],
    "rising_terms.show_rising_terms": [lambda _: ["/terms/rising"]],
    "rising_terms.rising_terms_feed": [lambda _: ["/terms/rising.atom"]],
    "api.terms": [_some_forms("/api/v1/terms?prefix={}", 0, 5), lambda _: ["/api/v1/terms"]],
    "api.term": [_some_forms("/api/v1/terms/{}", 0, 1), lambda _: [f"/api/v1/terms/{quote(PUBLIC_TERM)}"]],
    "public.compare_page": [_some_forms("/compare?q={}", 0, 1)],
    "api.compare_api": [_some_forms("/api/v1/compare?q={}", 0, 1)],
    "bookmarks.show_bookmarks": [
        lambda planted: [
            f"/bookmarks?ids={planted.doc_id},{PUBLIC_ARTICLES[0].doc_id}",
            f"/bookmarks?ids={planted.doc_id}",
        ]
    ],
    "follow.show_form": [_some_forms("/follow?q={}", 0)],
    "public.healthz": [lambda _: ["/healthz"]],
}
"""Endpoint -> the paths that ask for an article, each as a function of it."""

POSTS: Mapping[str, Callable[[Planted], Sequence[tuple[str, Mapping[str, Any]]]]] = {
    "connect.mcp": lambda planted: [
        ("/mcp", _call(*call[:1], **call[1]))
        for call in (
            ("search", {"query": planted.words}),
            ("search", {"query": planted.title, "site": planted.host}),
            ("fetch", {"id": planted.doc_id}),
            ("fetch", {"id": planted.url}),
            ("term", {"name": planted.words}),
            ("term", {"name": PUBLIC_TERM}),
            ("explain", {"query": planted.words}),
            ("explain", {"query": "页岩气", "id": PUBLIC_ARTICLES[0].doc_id}),
        )
    ],
    "connect.retrieval": lambda planted: [("/retrieval", {"knowledge_id": "all", "query": planted.words})],
    "bookmarks.export_bookmarks": lambda planted: [("/bookmarks", {"ids": planted.doc_id, "format": "bibtex"})],
}
"""Endpoint -> the requests that send arguments, as a function of an article."""


def list_probes(app: Flask) -> list[Probe]:
    """Return all probes: those of PLACES and POSTS for each private article and for what is related to it.

    Every other route of the site gets one probe with the values of a private article in its path.
    """
    probes = [
        Probe(endpoint, path)
        for planted in PRIVATE_ARTICLES
        for endpoint, makers in PLACES.items()
        for make_paths in makers
        for path in make_paths(planted)
    ]
    probes += [
        Probe(endpoint, path, arguments)
        for planted in PRIVATE_ARTICLES
        for endpoint, make_requests in POSTS.items()
        for path, arguments in make_requests(planted)
    ]
    gone_id = document_id(GONE)
    probes += [Probe("public.article", f"/article/{gone_id}"), Probe("api.article", f"/api/v1/articles/{gone_id}")]
    for planted in PUBLIC_ARTICLES:
        probes += [
            Probe("public.article", f"/article/{planted.doc_id}"),
            Probe("public.article", f"/article/{planted.doc_id}?q={quote(planted.words)}"),
            Probe("api.article", f"/api/v1/articles/{planted.doc_id}?q={quote(planted.words)}"),
            Probe("public.search", f"/search?q={quote(planted.words)}"),
            Probe("api.search", f"/api/v1/search?q={quote(planted.words)}"),
            Probe("api.search", f"/api/v1/search?cluster={planted.doc_id}"),
        ]
    adapter = app.url_map.bind("search.example")
    for rule in app.url_map.iter_rules():
        if rule.endpoint in PLACES.keys() | POSTS.keys():
            continue
        planted = PRIVATE_ARTICLES[0]
        values = {name: path_value(name, planted) for name in rule.arguments}
        try:
            path = adapter.build(rule.endpoint, values, force_external=False)
        except (BuildError, ValueError):  # a path that names none of these values
            continue
        probes.append(Probe(rule.endpoint, path, None if "GET" in (rule.methods or ()) else {"url": planted.url}))
    return list({(probe.path, json.dumps(probe.arguments)): probe for probe in probes}.values())


def path_value(name: str, planted: Planted) -> Any:
    """Return the value of an argument in the path of a route."""
    numbers = ("version", "run_id", "token_id", "number", "page", "entry_id", "decision_id")
    values = {"host": planted.host, "name": "reader", "filename": "style.css"} | dict.fromkeys(numbers, 1)
    return values.get(name, planted.doc_id)


def unprobed_rules(app: Flask) -> list[Rule]:
    """Return the routes for signed-out readers without a place in PLACES or POSTS that knows how to ask them."""
    known = PLACES.keys() | POSTS.keys() | WITHOUT_ARTICLES
    return [rule for rule in app.url_map.iter_rules() if rule.endpoint not in known and not is_signed_in_area(rule)]


WITHOUT_ARTICLES = frozenset(
    (
        *("static", "public.help_page", "public.robots", "public.favicon", "feeds.opensearch", "api.openapi_document"),
        *("api.not_found", "clicks.record_click", "metrics.metrics_page"),
        *("follow.request_follow", "follow_links.confirm", "follow_links.start", "follow_links.list_follows"),
        *("follow_links.ask_stop", "follow_links.stop"),
    )
)
"""Endpoints whose responses contain nothing of articles, or that refuse requests without a signature or a token."""


def is_signed_in_area(rule: Rule) -> bool:
    """Return True for the pages of administration and account."""
    return rule.rule.startswith("/admin")


def measure_leaks(solr_url: str, folder: Path) -> tuple[int, int]:
    """Return the number of probes and of those whose responses differ: the leaks, which are printed.

    Args:
        solr_url: URL of a running Solr.
        folder: An empty folder.
    """
    with ExitStack() as stack:
        apps = []
        for has_private in (True, False):
            home = folder / ("with" if has_private else "without")
            home.mkdir()
            apps.append(stack.enter_context(open_vertical(solr_url, home, has_private))[1])
        clients = [app.test_client() for app in apps]
        probes = list_probes(apps[0])
        leaks = [probe for probe in probes if len({fingerprint(probe.send(client)) for client in clients}) > 1]
        for probe in leaks:
            print_difference(probe, *(fingerprint(probe.send(client)) for client in clients))
        return len(probes), len(leaks)


_RANDOM_RE = re.compile(r'(name="token" value=")[^"]+|("took_ms": ?)\d+|(session=)[^;]+|(\bc)[0-9a-f]{16}\b')


def fingerprint(response: TestResponse) -> str:
    """Return what a reader sees of a response, without what is random or counts time."""
    body = response.get_data().decode("utf-8", "replace")
    left_out = ("Content-Length", "Date", "Set-Cookie")
    headers = sorted((name, value) for name, value in response.headers if name not in left_out)
    cookies = sorted(value.partition("=")[0] for value in response.headers.getlist("Set-Cookie"))
    text = f"{response.status}\n{headers}\n{cookies}\n{body}"
    return _RANDOM_RE.sub(lambda match: next(filter(None, match.groups())), text)


def print_difference(probe: Probe, *texts: str) -> None:
    """Print where two texts begin to differ."""
    print(probe.endpoint, probe.path, probe.arguments or "")
    start = next((n for n, pair in enumerate(zip(*texts, strict=False)) if len(set(pair)) > 1), min(map(len, texts)))
    for text in texts:
        print("   ", repr(text[max(0, start - 100) : start + 200]))
