"""In-memory versions of the arguments of `create_app`: a small Solr, and a lexicon under review."""

import atexit
import json
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from shutil import copyfile, rmtree
from tempfile import mkdtemp
from types import MappingProxyType
from typing import Any
from uuid import uuid4
from weakref import finalize

from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient
from jinja2.bccache import Bucket, BytecodeCache
from werkzeug.routing import Rule

from docstore.database import sqlite_url
from docstore.store import Store
from domain.account import Role
from domain.alert import Alert
from domain.errors import SolrError
from domain.outcome import Reason
from domain.review import TermQuery
from domain.rising_term import RisingTerm
from domain.run import (
    Freshness,
    OutcomeSample,
    RunHistory,
    RunState,
    RunSummary,
    SiteArticles,
    SiteRun,
    SiteTotals,
    StageSummary,
)
from domain.search_log import Click, LoggedSearch, SearchReport
from domain.term import Lexicon, Term, TermStatus
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.administration import build_administration
from pipeline.search_site.public_backend import StoreSiteBackend
from pipeline.settings import Settings
from pipeline.settings_source import SettingsSource
from search_ui.app import create_app
from search_ui.interfaces import (
    AppliedLexicon,
    EmbeddingBacklog,
    OriginalDocument,
    OriginalError,
    Overview,
    SiteDetail,
    SiteReport,
)
from search_ui.query.semantic.hybrid import SIMILARITY_FIELD, QueryVector
from search_ui.query.solr_query import Params
from search_ui.query.solr_requests import FULL_MATCH_FIELD, FULL_MATCH_SCORE, HIGHLIGHT_END, HIGHLIGHT_START
from search_ui.search_log import SearchLogWriter
from search_ui.settings import SearchSettings
from solr_client import solr_fields
from tests.builders import decide
from text.segment import RjiebaSegmenter, Segmenter

PASSWORD = "correct horse"
PASSWORD_HASH = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)  # cheap: this is a test
OPERATOR = "operator"
NO_SEARCHES = SearchReport((), 0, 0, 0, 0, 0, 0, (), (), (), (), 0)
NO_LEXICON = Lexicon()
BASE = RjiebaSegmenter()


def document(
    number: int, title: str, body: str, published: str = "2016-05-09", site: str = "news.example"
) -> dict[str, Any]:
    """Return a document as Solr returns it."""
    return {
        solr_fields.ID: f"doc{number}", solr_fields.URL: f"https://{site}/{number}.html", solr_fields.SITE: site,
        solr_fields.TITLE: title, solr_fields.BODY: body, solr_fields.PUBLISHED_TEXT: published,
        solr_fields.CLUSTER_ID: f"doc{number}",
        solr_fields.FETCHED: "2024-05-01T10:20:30Z", solr_fields.LANGUAGE: "zh",
    }  # fmt: skip


@dataclass
class FakeSearch:
    """Finds documents whose title or body contains the query text; records the requests in `asked`.

    `cosines` by document id are those of the documents that have a vector. `header` is added to the response header of
    scored hits.
    `works` are the ids of the works that match each query.
    """

    documents: list[dict[str, Any]] = field(default_factory=list)
    cosines: dict[str, float] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=dict)
    works: Sequence[str] = ()
    asked: list[Params] = field(default_factory=list)
    error: SolrError | None = None

    def select(self, params: Params) -> dict[str, Any]:
        if dict(params).get("fl", "").startswith(solr_fields.WORK_ID):
            return {"response": {"docs": [{solr_fields.WORK_ID: work, "score": 9.0} for work in self.works]}}
        self.asked.append(params)
        if self.error:
            raise self.error
        named = dict(params)
        hidden, pinned = (named[name].split(",") if name in named else [] for name in ("hidden_ids", "pinned_ids"))
        if "vector" in named:
            return {"response": {"docs": [doc for doc in self._neighbours() if doc[solr_fields.ID] not in hidden]}}
        shown = [doc for doc in self.documents if doc[solr_fields.ID] not in hidden]
        found = [doc for doc in shown if doc[solr_fields.ID] in pinned or _matches(doc, named)]
        if "pin0_id" in named and "cluster" not in named:  # ranked; pinned documents first, in the order of their rules
            found.sort(key=lambda doc: [*pinned, doc[solr_fields.ID]].index(doc[solr_fields.ID]))
        header = {}
        if "score" in named.get("fl", "") or f"{FULL_MATCH_FIELD}:" in named.get("fl", ""):
            header = self.header
            found = [self._scored(doc, named, len(found) - n) for n, doc in enumerate(found)]
        rows, mark = int(named["rows"]), named.get("cursorMark", "*")
        start = int(named.get("start", "0")) if mark == "*" else int(mark.removeprefix("mark"))
        docs = found[start : start + rows]
        return {
            "responseHeader": {"status": 0, "QTime": 7, **header},
            "response": {"numFound": len(found), "start": start, "docs": docs},
            "highlighting": {doc[solr_fields.ID]: _highlights(doc, named.get("text", "")) for doc in docs},
            "facets": _facets(found, named, self.documents)
            | {"copies": _copies(docs, self.documents), "pictures": _pictures(found)},
            "nextCursorMark": f"mark{start + len(docs)}",
            "debug": {"explain": {doc[solr_fields.ID]: EXPLAINED for doc in docs}},
        }

    def _neighbours(self) -> list[dict[str, Any]]:
        nearest = sorted(self.cosines, key=lambda doc_id: -self.cosines[doc_id])
        known = {doc[solr_fields.ID]: doc for doc in self.documents}
        return [{**known[doc_id], "score": (1 + self.cosines[doc_id]) / 2} for doc_id in nearest]

    def _scored(self, doc: dict[str, Any], named: dict[str, str], score: float) -> dict[str, Any]:
        cosine, is_full = self.cosines.get(doc[solr_fields.ID]), "any_part" not in named
        tier = {FULL_MATCH_FIELD: 1.0, "score": score + FULL_MATCH_SCORE} if is_full else {"score": score}
        return {**doc, **tier, SIMILARITY_FIELD: 0.0 if cosine is None else (1 + cosine) / 2}


EXPLAINED = {
    "match": True, "value": 4.0, "description": "sum of:", "details": [
        {"match": True, "value": 3.0, "description": "weight(body:页岩 in 1) [SchemaSimilarity], result of:"},
        {"match": True, "value": 1.0, "description": "weight(title_domain:页岩气 in 1) [SchemaSimilarity], result of:"},
    ],
}  # fmt: skip


def _matches(doc: dict[str, Any], named: dict[str, str]) -> bool:
    if "hits" in named:
        is_full = all(part in _text(doc) for part in _parts(named, "").split())
        return doc[solr_fields.ID] in named["hits"].split(",") and (is_full or "hl" in named)
    if "doc" in named and not named["q"].startswith("{!bool must=$copies"):
        is_it = doc[solr_fields.ID] == named["doc"]
        return not is_it if named["q"].startswith("{!mlt") else is_it
    if "series" in named and not named["q"].startswith("{!mlt"):
        return doc.get(solr_fields.SERIES_ID) == named["series"] and doc[solr_fields.CLUSTER_ID] != named["cluster"]
    if "cluster" in named and doc[solr_fields.CLUSTER_ID] != named["cluster"]:
        return False
    if "doc" in named and doc[solr_fields.ID] == named["doc"]:
        return False
    sites = named.get("sites", "").split("\x1f") if "sites" in named else [doc[solr_fields.SITE]]
    text = named.get("text", named.get("domain_words", named.get("base_words", ""))) or _parts(named, "")
    held = _text(doc)
    if doc[solr_fields.CLUSTER_ID] in named.get("listed", "").split(","):
        return False
    parts_needed = any if "any_part" in named else all
    if doc[solr_fields.SITE] in named.get("not_sites", "").split("\x1f"):
        return False
    return doc[solr_fields.SITE] in sites and parts_needed(part in held for part in text.replace("\u200b", "").split())


def _text(doc: dict[str, Any]) -> str:
    return f"{doc[solr_fields.TITLE]}\n{doc[solr_fields.BODY]}"


def _parts(named: dict[str, str], prefix: str) -> str:
    """Return the query parts by which documents are counted."""
    texts = [value for name, value in named.items() if re.fullmatch(prefix + r"(part|word)\d+_text", name)]
    return " ".join(texts).replace('"', " ")


def _highlights(doc: dict[str, Any], text: str) -> dict[str, list[str]]:
    def mark(value: str) -> list[str]:
        return [
            value.replace(text.strip(), f"{HIGHLIGHT_START}{text.strip()}{HIGHLIGHT_END}") if text.strip() else value
        ]

    return {solr_fields.TITLE: mark(doc[solr_fields.TITLE]), solr_fields.BODY: mark(doc[solr_fields.BODY])}


def _copies(docs: Sequence[dict[str, Any]], all_docs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return _buckets(
        [
            doc[solr_fields.CLUSTER_ID]
            for doc in all_docs
            if doc[solr_fields.CLUSTER_ID] in {d[solr_fields.CLUSTER_ID] for d in docs}
        ]
    )


def _pictures(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return _buckets([doc.get(solr_fields.PICTURE, "") for doc in found])


def _facets(
    found: Sequence[dict[str, Any]], named: dict[str, str], documents: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    if "newest" in json.loads(named.get("json.facet", "{}")):
        return {"sites": _buckets([doc[solr_fields.SITE] for doc in found]), "newest": "2016-05-09T00:00:00Z"}
    clusters = [doc[solr_fields.CLUSTER_ID] for doc in found]
    others = {name: _holding(documents, text) for name in _asked_facets(named) if (text := _parts(named, f"{name}_"))}
    return others | {
        "total": len(set(clusters)),
        "sites": _buckets([doc[solr_fields.SITE] for doc in found]),
        "sections": _buckets([doc.get(solr_fields.SECTION, "") for doc in found]),
        "languages": _buckets([doc.get(solr_fields.LANGUAGE, "") for doc in found]),
        "authors": _buckets([doc.get(solr_fields.AUTHOR, "") for doc in found]),
        "types": _buckets([doc.get(solr_fields.PAGE_TYPE, "") for doc in found]),
        "formats": _buckets([doc.get(solr_fields.FORMAT, "") for doc in found]),
        "terms": _buckets([term for doc in found for term in doc.get(solr_fields.DOMAIN_TERMS, ())]),
        "dates": _buckets(sorted(f"{doc[solr_fields.PUBLISHED_TEXT][:4]}-01-01T00:00:00Z" for doc in found)),
    }


def _asked_facets(named: dict[str, str]) -> list[str]:
    return list(json.loads(named.get("json.facet", "{}")))


def _holding(found: Sequence[dict[str, Any]], text: str) -> dict[str, int]:
    """Count the documents that contain the parts of another search that could be offered."""
    return {
        "total": sum(
            all(part in f"{doc[solr_fields.TITLE]}\n{doc[solr_fields.BODY]}" for part in text.split()) for doc in found
        )
    }


def _buckets(values: Sequence[str]) -> dict[str, Any]:
    """Count each value, except empty ones."""
    counts = {value: values.count(value) for value in dict.fromkeys(values) if value}
    return {"buckets": [{"val": value, "count": count, "n": count} for value, count in counts.items()]}


@cache
def _empty_store() -> Path:
    """Return a store without rows, to copy: creating the tables takes longer than most tests."""
    file = Path(mkdtemp(prefix="plumbline-sites-")) / "empty.db"
    atexit.register(rmtree, file.parent, ignore_errors=True)
    Store(sqlite_url(file), file.parent).close()
    return file


def open_memory_engine(owner: object, settings: Settings | None = None) -> Engine:
    """Return the engine of an empty vertical, which is deleted with `owner`. All threads see its store."""
    folder = _empty_store().with_name(uuid4().hex)
    settings = settings or Settings(folder, SettingsSource(Path(os.devnull)))
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    copyfile(_empty_store(), settings.data_dir / "store.db")
    engine = Engine(settings, NullProgress())
    finalize(owner, _delete, engine, folder)
    return engine


def _delete(engine: Engine, folder: Path) -> None:
    engine.close()
    rmtree(folder, ignore_errors=True)


@cache
def _segmenter(texts: tuple[str, ...]) -> Segmenter:
    return RjiebaSegmenter([(text, 0, "n") for text in texts]) if texts else BASE


ONE_GOOD_RUN = RunHistory(
    (RunSummary(0.0, 90.0, RunState.DONE, (StageSummary("crawl", (("fetched", 7),)), StageSummary("index", ()))),),
    0.0,
    None,
    None,
)


class NoQueryVectors:
    """Semantic search is not configured."""

    def query_vector(self, text: str) -> QueryVector | None:
        return None

    def is_preparing(self) -> bool:
        return False

    def article_vector(self, digest: str) -> QueryVector | None:
        return None

    def best_passages(self, query_vector: QueryVector, digests: Iterable[str]) -> Mapping[str, tuple[int, int]]:
        return {}

    def text_cosines(self, query_vector: QueryVector, texts: Sequence[str]) -> Sequence[float]:
        return [0.0] * len(texts)


class OneVector(NoQueryVectors):
    """Every query has the same vector."""

    def query_vector(self, text: str) -> QueryVector:
        return QueryVector("m", "m_v256", (1, -2), min_cosine=0.5)


@dataclass
class FakeOriginals:
    """Pages as they were fetched, in memory: what is kept of each article, its page or file, or why it is not shown."""

    kept: dict[str, OriginalDocument] = field(default_factory=dict)
    contents: dict[str, str | bytes] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    calls: int = 0

    def find(self, doc_id: str) -> OriginalDocument | None:
        return self.kept.get(doc_id)

    def find_ids(self, doc_ids: Collection[str]) -> Collection[str]:
        self.calls += 1
        return self.kept.keys() & set(doc_ids)

    def sanitized_html(self, doc_id: str) -> str:
        return str(self._content(doc_id))

    def file_bytes(self, doc_id: str) -> bytes:
        content = self._content(doc_id)
        assert isinstance(content, bytes)
        return content

    def _content(self, doc_id: str) -> str | bytes:
        if doc_id in self.faults:
            raise OriginalError(self.faults[doc_id])
        return self.contents[doc_id]


class MemorySite(StoreSiteBackend):
    """A vertical with a store of its own. What comes from Solr, the crawl or past runs is given as values.

    `services` are fields of `Administration`, such as `run_status`.
    """

    def __init__(
        self,
        terms: Sequence[Term] = (),
        published: Lexicon = NO_LEXICON,
        lag: int = 0,
        popular: Sequence[str] = (),
        pictures: Mapping[str, bytes] | None = None,
        rising: Sequence[RisingTerm] = (),
        settings: Settings | None = None,
        **services: Any,
    ) -> None:
        self.engine = open_memory_engine(self, settings)
        super().__init__(self.engine)
        self.store, self._published, self._order = self.engine.store, NO_LEXICON, [one.text for one in terms]
        self.needs_second_reviewer = False
        self.store.review_history.needs_second_reviewer = lambda: self.needs_second_reviewer
        self.store.lexicons.replace_candidates(terms)
        for one in terms:
            if one.status is not TermStatus.CANDIDATE:
                decide(self.store, [one.text], one.status)
        for number in range(1, published.version + 1):
            self._published = self.store.lexicons.publish(Lexicon(number, published.entries))
        self.lag, self.popular, self.pictures = lag, list(popular), pictures or {}
        self.store.rising_terms.save(rising)
        self.runs: RunHistory = services.pop("runs", ONE_GOOD_RUN)
        self.saved_pages = services.pop("originals", FakeOriginals())
        self.alerts: Sequence[Alert] = services.pop("alerts", ())
        self.samples: Sequence[OutcomeSample] = services.pop("samples", ())
        self.embedding = EmbeddingBacklog()
        given = {"overview": self.overview, "sites": self.sites, "site": self.site, **services}
        self.administration = replace(build_administration(self.engine, self.review), **given)

    @property
    def originals(self) -> "FakeOriginals":
        return self.saved_pages

    @property
    def all_terms(self) -> list[Term]:
        """The terms as they are now, the given ones first."""
        now = {one.text: one for one in self.store.review_queue.find_page(TermQuery(None, limit=10_000))[1]}
        known = [now.pop(text) for text in self._order if text in now]
        return [*known, *now.values()]

    def applied_lexicon(self) -> AppliedLexicon:
        return AppliedLexicon(self.published, _segmenter(tuple(entry.text for entry in self.published.entries)))

    @property
    def published(self) -> Lexicon:
        if self._published.version != self.store.lexicons.latest_version():
            self._published = self.store.lexicons.load_latest()
        return self._published

    def base_segmenter(self) -> Segmenter:
        return BASE

    def count_pending_documents(self) -> int:
        return self.lag

    def may_have_thumbnail(self, article_url: str, picture_url: str) -> bool:
        return picture_url in self.pictures

    def thumbnail(self, article_url: str, picture_url: str) -> bytes | None:
        return self.pictures.get(picture_url)

    def popular_queries(self, limit: int) -> list[str]:
        return self.popular[:limit]

    def run_history(self) -> RunHistory:
        return self.runs

    def overview(self) -> Overview:
        version = self.published.version
        freshness = Freshness(3, 2, 1, 0.0, 60.0, 120.0)
        return Overview(freshness, version, version, self.runs, self.alerts, self.embedding)

    def sites(self) -> list[SiteReport]:
        ends = {Reason.FETCHED: 4, Reason.GONE: 2, Reason.TIMED_OUT: 1}
        last = SiteRun(1, 60.0, {"fetched": 4, "gone": 2, "timed_out": 1})
        totals = SiteTotals("news.example", "https://news.example/", 7, 0, 3, 60.0, ends)
        return [SiteReport(totals, 2.5, last, SiteArticles(3, 60.0, 1), 2)]

    def site(self, host: str) -> SiteDetail | None:
        known = {one.totals.host: one for one in self.sites()}
        runs = [SiteRun(1, 60.0, {"fetched": 4, "gone": 2, "timed_out": 1}, {"extracted": 3, "no_body": 1})]
        return SiteDetail(known[host], runs, self.samples) if host in known else None


def term(text: str, score: float = 10.0, **changes: Any) -> Term:
    """Return a candidate with one context that contains it."""
    evidence: dict[str, Any] = {
        "frequency": 12,
        "document_count": 5,
        "pos_tags": "n n",
        "contexts": (f"说到{text}，大家都知道。",),
    }
    return Term(text, score, **{**evidence, **changes})


@dataclass
class KeptLog:
    """Records the entries of a search log."""

    searches: list[LoggedSearch] = field(default_factory=list)
    clicks: list[Click] = field(default_factory=list)
    dropped: int = 0

    def keep(self, searches: Sequence[LoggedSearch], clicks: Sequence[Click], dropped: int) -> None:
        self.searches += searches
        self.clicks += clicks
        self.dropped += dropped


class CompiledTemplates(BytecodeCache):
    """Cache of compiled Jinja templates: all applications of a test run compile a template once."""

    def __init__(self) -> None:
        self._code_by_version: dict[tuple[str, str], Any] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load the code into `bucket` if this version of the template is compiled."""
        bucket.code = self._code_by_version.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store the code in `bucket`."""
        self._code_by_version[bucket.key, bucket.checksum] = bucket.code


COMPILED_TEMPLATES = CompiledTemplates()


def share_url_builders() -> None:
    """Compile the URL builder of a route once for all applications of a test run: it is a sixth of the short tests."""
    compile_builder, builders = Rule._compile_builder, {}

    def compile_once(rule: Rule, append_unknown: bool = True) -> Any:
        key = rule.rule, str(rule.defaults), append_unknown
        if key not in builders:
            builders[key] = compile_builder(rule, append_unknown)
        return builders[key]

    Rule._compile_builder = compile_once  # type: ignore[assignment, method-assign]


share_url_builders()


def site_app(
    search: FakeSearch | None = None,
    site: MemorySite | None = None,
    settings: SearchSettings | None = None,
    roles: Mapping[str, Role] = MappingProxyType({OPERATOR: Role.OPERATOR}),
    log: SearchLogWriter | None = None,
    **more: Any,
) -> Flask:
    """Return the application of a vertical in memory, in which the accounts of `roles` can sign in with `PASSWORD`."""
    search_settings, site = settings or SearchSettings(), site or MemorySite()
    for name, role in roles.items():
        if site.store.accounts.find(name) is not None:
            site.store.accounts.set_roles(name, [role])
        else:
            site.store.accounts.create(name, PASSWORD_HASH, [role])
    app = create_app(
        lambda: search_settings,
        search or FakeSearch(),
        site,
        site.administration,
        log or SearchLogWriter(KeptLog().keep),
        b"k" * 32,
        **{"query_vectors": NoQueryVectors(), **more},
    )
    app.jinja_env.bytecode_cache = COMPILED_TEMPLATES
    return app


def form_token(client: FlaskClient, page: str = "/admin/login") -> str:
    """Return the form token of a page for this client."""
    found = re.search(r'name="token" value="([^"]+)"', client.get(page).text)
    assert found is not None
    return found[1]


def sign_in(client: FlaskClient, name: str = OPERATOR) -> str:
    """Sign the client in; return the token its forms need."""
    answer = client.post("/admin/login", data={"token": form_token(client), "name": name, "password": PASSWORD})
    assert answer.status_code == 303, answer.text
    return form_token(client, "/admin/account")
