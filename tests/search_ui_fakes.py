"""In-memory versions of the arguments of `create_app`: a small Solr, and a lexicon under review."""

import json
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient
from jinja2.bccache import Bucket, BytecodeCache
from werkzeug.routing import Rule

from docstore.account_administration import AccountAdministration
from docstore.api_tokens import ApiTokenTable
from docstore.store import Store
from docstore.takedowns import TakedownTable
from domain.account import Account, Role, normalize_account_name
from domain.administration import AlertMute, HistoryEntry, HistoryFilter, HistorySource, HostSuggestion, SiteContents
from domain.alert import Alert, AlertKey
from domain.article import document_id
from domain.errors import LexiconError, PlumblineError, SettingsError, SolrError, TopicError
from domain.focused_decision import HostHarvest
from domain.outcome import Reason
from domain.review import ReviewDecision, ReviewDecisionKind, TermEdit, TermQuery
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
from domain.topic import Topic, TopicState, TopicTermClass
from pipeline.search_site.review_service import StoreReview
from pipeline.search_site.review_team import StoreReviewTeam
from pipeline.settings import Settings
from pipeline.settings_source import SettingsSource
from pipeline.site_admin.settings_editor import FileSettingsEditor
from search_ui.admin.interfaces.alerts import ChannelTest, EndedAlert
from search_ui.admin.interfaces.diagnosis import PageDiagnosis, PageRemedy
from search_ui.admin.interfaces.run_control import RunCounts, RunStatus
from search_ui.admin.interfaces.runs import LiveRun, RunDetail, RunFigures
from search_ui.admin.interfaces.sites import SiteOption, SiteOptionKind, SiteSettings
from search_ui.app import create_app
from search_ui.interfaces import EmbeddingBacklog, OriginalDocument, OriginalError, Overview, SiteDetail, SiteReport
from search_ui.query.semantic.hybrid import SIMILARITY_FIELD, QueryVector
from search_ui.query.solr_query import Params
from search_ui.query.solr_requests import FULL_MATCH_FIELD, FULL_MATCH_SCORE, HIGHLIGHT_END, HIGHLIGHT_START
from search_ui.review.topic_interfaces import TopicReviewState
from search_ui.search_log import SearchLogWriter
from search_ui.settings import SearchSettings
from solr_client import solr_fields
from tests.builders import decide
from text.segment import RjiebaSegmenter, Segmenter

PASSWORD = "correct horse"
PASSWORD_HASH = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)  # cheap: this is a test
OPERATOR = "operator"
NO_SEARCHES = SearchReport((), 0, 0, 0, 0, 0, 0, (), (), (), (), 0)
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
        if "vector" in named:
            return {"response": {"docs": self._neighbours()}}
        found = [doc for doc in self.documents if _matches(doc, named)]
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
            "facets": _facets(found, named) | {"copies": _copies(docs, self.documents), "pictures": _pictures(found)},
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


def _facets(found: Sequence[dict[str, Any]], named: dict[str, str]) -> dict[str, Any]:
    if "newest" in json.loads(named.get("json.facet", "{}")):
        return {"sites": _buckets([doc[solr_fields.SITE] for doc in found]), "newest": "2016-05-09T00:00:00Z"}
    clusters = [doc[solr_fields.CLUSTER_ID] for doc in found]
    others = {name: _holding(found, text) for name in _asked_facets(named) if (text := _parts(named, f"{name}_"))}
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
def _segmenter(texts: tuple[str, ...]) -> Segmenter:
    return RjiebaSegmenter([(text, 0, "n") for text in texts]) if texts else BASE


ONE_GOOD_RUN = RunHistory(
    (RunSummary(0.0, 90.0, RunState.DONE, (StageSummary("crawl", (("fetched", 7),)), StageSummary("index", ()))),),
    0.0,
    None,
    None,
)


class NoTopicBackend:
    """A site without topics."""

    def names(self) -> Sequence[str]:
        return ()

    def active_topic(self) -> str:
        return ""

    def topic(self, name: str) -> Topic:
        raise TopicError("Topic {topic} does not exist.", topic=name)

    def decide(self, name: str, items: Sequence[str], state: TopicState, kind: TopicTermClass | None) -> None:
        del items, state, kind
        raise TopicError("Topic {topic} does not exist.", topic=name)

    def harvest(self) -> Sequence[HostHarvest]:
        return ()

    def review_questions(self, name: str) -> TopicReviewState:
        del name
        return TopicReviewState()

    def save_answers(self, name: str, answers: Mapping[str, bool], by: str) -> None:
        del answers, by
        raise TopicError("Topic {topic} does not exist.", topic=name)


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


@dataclass
class FakeRunControl:
    """Runs that only change `is_running`; `calls` has the accounts that started and stopped them."""

    is_running: bool = False
    can_stop: bool = True
    is_scheduler_running: bool = False
    problem: str = ""
    is_starting: bool = False
    failure: str = ""
    run_counts: RunCounts = field(default_factory=RunCounts)
    calls: list[tuple[str, str]] = field(default_factory=list)

    def status(self) -> RunStatus:
        next_run_at = 7200.0 if self.is_scheduler_running else None
        states = (self.is_running, self.can_stop, self.is_scheduler_running)
        return RunStatus(*states, "02:30", next_run_at, self.is_starting, self.failure)

    def counts(self) -> RunCounts:
        return self.run_counts

    def start(self, account: str) -> None:
        if self.problem:
            raise PlumblineError("The run ended at once: {message}", message=self.problem)
        self.calls.append(("start", account))
        self.is_running = True

    def stop(self, account: str) -> bool:
        self.calls.append(("stop", account))
        return self.is_running


@dataclass
class FakeDiagnosis:
    """Diagnoses by URL. Pages are known if they have a diagnosis."""

    diagnoses: dict[str, PageDiagnosis] = field(default_factory=dict)
    scheduled: list[str] = field(default_factory=list)
    remedies: list[tuple[str, PageRemedy, str]] = field(default_factory=list)
    fault: str = ""

    def document_id(self, url: str) -> str:
        return document_id(url)

    def diagnose_page(self, url: str) -> PageDiagnosis | None:
        return self.diagnoses.get(url)

    def schedule_page(self, url: str, account: str) -> bool:
        self.scheduled.append(url)
        return url in self.diagnoses

    def apply_remedy(self, url: str, remedy: PageRemedy, account: str) -> None:
        if self.fault:
            raise PlumblineError(self.fault)
        self.remedies.append((url, remedy, account))


@dataclass
class FakeAlertAdministration:
    """Alerts in memory. `tests` are the results of a test message; None: no channel is configured."""

    firing_alerts: list[Alert] = field(default_factory=list)
    muted: dict[AlertKey, AlertMute] = field(default_factory=dict)
    resolved: list[EndedAlert] = field(default_factory=list)
    tests: list[ChannelTest] | None = None

    def firing(self) -> list[Alert]:
        return self.firing_alerts

    def mutes(self) -> list[AlertMute]:
        return list(self.muted.values())

    def ended_alerts(self) -> list[EndedAlert]:
        return self.resolved

    def has_channels(self) -> bool:
        return self.tests is not None

    def mute(self, key: AlertKey, account: str, until: float | None) -> bool:
        if all(alert.key != key for alert in self.firing_alerts):
            return False
        self.muted[key] = AlertMute(key, account, until)
        return True

    def unmute(self, key: AlertKey, account: str) -> bool:
        return self.muted.pop(key, None) is not None

    def send_test(self, account: str) -> list[ChannelTest]:
        if self.tests is None:
            raise SettingsError("no alert channel configured")
        return self.tests


@dataclass
class FakeHistory:
    """A history in memory; records the filters in `wanted` and the undone entries in `undone`."""

    entries: list[HistoryEntry] = field(default_factory=list)
    wanted: list[HistoryFilter] = field(default_factory=list)
    undone: list[tuple[HistorySource, int, str]] = field(default_factory=list)
    error: PlumblineError | None = None

    def find(self, history_filter: HistoryFilter, offset: int, limit: int) -> tuple[int, list[HistoryEntry]]:
        self.wanted.append(history_filter)
        return len(self.entries), self.entries[offset : offset + limit]

    def kinds(self) -> list[tuple[HistorySource, str]]:
        return sorted({(entry.source, entry.kind) for entry in self.entries})

    def accounts(self) -> list[str]:
        return sorted({entry.account for entry in self.entries})

    def undo(self, source: HistorySource, entry_id: int, account: str) -> bool:
        if self.error:
            raise self.error
        self.undone.append((source, entry_id, account))
        return any(entry.source is source and entry.entry_id == entry_id for entry in self.entries)


@dataclass
class FakeRunReports:
    """Runs in memory, newest first."""

    details: list[RunDetail] = field(default_factory=list)
    live: LiveRun | None = None
    figures_of_runs: list[RunFigures] = field(default_factory=list)

    def list_runs(self, before_id: int | None, limit: int) -> list[RunSummary]:
        runs = [detail.run for detail in self.details if before_id is None or detail.run.run_id < before_id]
        return runs[:limit]

    def detail(self, run_id: int) -> RunDetail | None:
        return next((detail for detail in self.details if detail.run.run_id == run_id), None)

    def live_run(self) -> LiveRun | None:
        return self.live

    def figures(self) -> list[RunFigures]:
        return self.figures_of_runs


@dataclass
class FakeSites:
    """Records the changes of each host. All changes raise `error` unless it is None."""

    calls: list[tuple[object, ...]] = field(default_factory=list)
    error: PlumblineError | None = None
    paused_hosts: set[str] = field(default_factory=set)
    options: list[SiteOption] = field(default_factory=list)

    def find_host(self, text: str) -> str:
        return "" if text.startswith("unknown") else text

    def load(self, host: str) -> SiteSettings:
        values = {"name": "新闻网", "delay": "3", "quiet_hours": "", "urls": f"https://{host}/", "scope": host}
        return SiteSettings(host, values, host in self.paused_hosts, options=self.options)

    def suggestions(self, limit: int) -> Sequence[HostSuggestion]:
        return [HostSuggestion("other.example", 7, 7, 2, "https://other.example/a/b", "")][:limit]

    def count_contents(self, host: str) -> SiteContents:
        return SiteContents(30, 20, 10, 2_500_000)

    def add(self, url: str, account: str) -> str:
        self._record("add", url, account)
        return url.split("/")[2]

    def pause(self, host: str, account: str) -> None:
        self._record("pause", host, account)
        self.paused_hosts.add(host)

    def resume(self, host: str, account: str) -> None:
        self._record("resume", host, account)
        self.paused_hosts.discard(host)

    def change(self, host: str, values: Mapping[str, str], account: str) -> None:
        self._record("change", host, values, account)

    def set_option(self, host: str, kind: SiteOptionKind, text: str, account: str) -> None:
        self._record("set_option", host, kind, text, account)

    def remove_option(self, host: str, option: SiteOption, account: str) -> None:
        self._record("remove_option", host, option, account)

    def recrawl(self, host: str, account: str) -> int:
        self._record("recrawl", host, account)
        return 20

    def remove(self, host: str, account: str) -> SiteContents:
        self._record("remove", host, account)
        return self.count_contents(host)

    def _record(self, *call: object) -> None:
        if self.error:
            raise self.error
        self.calls.append(call)


@dataclass
class FakeActions:
    """A lexicon under review, in memory."""

    all_terms: list[Term] = field(default_factory=list)
    published: Lexicon = field(default_factory=Lexicon)
    lag: int = 0
    older: list[Segmenter] = field(default_factory=list)
    popular: list[str] = field(default_factory=list)
    report: SearchReport = NO_SEARCHES
    pictures: dict[str, bytes] = field(default_factory=dict)
    originals: "FakeOriginals" = field(default_factory=lambda: FakeOriginals())
    asked_days: list[int] = field(default_factory=list)
    runs: RunHistory = ONE_GOOD_RUN
    alerts: list[Alert] = field(default_factory=list)
    embedding: EmbeddingBacklog = field(default_factory=EmbeddingBacklog)
    samples: list[OutcomeSample] = field(default_factory=list)
    dask_pages: str = ""
    page_diagnosis: "FakeDiagnosis" = field(default_factory=lambda: FakeDiagnosis())
    rising: list[RisingTerm] = field(default_factory=list)
    run_control: FakeRunControl = field(default_factory=FakeRunControl)
    settings: Settings = field(default_factory=lambda: Settings(Path("/nowhere"), SettingsSource(Path(os.devnull))))
    alert_administration: "FakeAlertAdministration" = field(default_factory=lambda: FakeAlertAdministration())
    history: "FakeHistory" = field(default_factory=lambda: FakeHistory())
    run_reports: "FakeRunReports" = field(default_factory=lambda: FakeRunReports())

    site_service: "FakeSites" = field(default_factory=lambda: FakeSites())

    @cached_property
    def takedowns(self) -> TakedownTable:
        return self.review_service.store.takedowns

    @cached_property
    def review_service(self) -> "FakeDesk":
        return FakeDesk(self)

    @property
    def review_team(self) -> StoreReviewTeam:
        return StoreReviewTeam(self.review_service.store)

    @property
    def account_administration(self) -> AccountAdministration:
        return self.review_service.store.account_administration

    @property
    def api_tokens(self) -> ApiTokenTable:
        return self.review_service.store.api_tokens

    @property
    def settings_editor(self) -> FileSettingsEditor:
        return FileSettingsEditor(self.settings, self.review_service.store.actions)

    def lexicon(self) -> Lexicon:
        return self.published

    def domain_segmenter(self) -> Segmenter:
        return _segmenter(tuple(entry.text for entry in self.published.entries))

    def base_segmenter(self) -> Segmenter:
        return BASE

    def find_terms(self, status: TermStatus | None, text: str, offset: int, limit: int) -> tuple[int, list[Term]]:
        found = [term for term in self.all_terms if status in (None, term.status) and text in term.text]
        found.sort(key=lambda term: -term.score)
        return len(found), found[offset : offset + limit]

    def count_terms_by_status(self) -> dict[TermStatus, int]:
        return {status: self.find_terms(status, "", 0, 0)[0] for status in TermStatus}

    def decide(self, text: str, status: TermStatus) -> None:
        places = [n for n, term in enumerate(self.all_terms) if term.text == text]
        if not places:
            raise LexiconError(f"No such term: {text}")
        self.all_terms[places[0]] = replace(self.all_terms[places[0]], status=status)

    def rising_terms(self) -> list[RisingTerm]:
        return self.rising

    def count_pending_documents(self) -> int:
        return self.lag

    def may_have_thumbnail(self, article_url: str, picture_url: str) -> bool:
        return picture_url in self.pictures

    def thumbnail(self, article_url: str, picture_url: str) -> bytes | None:
        return self.pictures.get(picture_url)

    def popular_queries(self, limit: int) -> list[str]:
        return self.popular[:limit]

    def overview(self) -> Overview:
        version = self.published.version
        freshness = Freshness(3, 2, 1, 0.0, 60.0, 120.0)
        return Overview(freshness, version, version, self.runs, self.alerts, self.embedding)

    def dashboard_url(self) -> str:
        return self.dask_pages

    def run_history(self) -> RunHistory:
        return self.runs

    def sites(self) -> list[SiteReport]:
        ends = {Reason.FETCHED: 4, Reason.GONE: 2, Reason.TIMED_OUT: 1}
        last = SiteRun(1, 60.0, {"fetched": 4, "gone": 2, "timed_out": 1})
        totals = SiteTotals("news.example", "https://news.example/", 7, 0, 3, 60.0, ends)
        return [SiteReport(totals, 2.5, last, SiteArticles(3, 60.0, 1), 2)]

    def site(self, host: str) -> SiteDetail | None:
        known = {one.totals.host: one for one in self.sites()}
        runs = [SiteRun(1, 60.0, {"fetched": 4, "gone": 2, "timed_out": 1}, {"extracted": 3, "no_body": 1})]
        return SiteDetail(known[host], runs, self.samples) if host in known else None

    def search_report(self, days: int) -> SearchReport:
        self.asked_days.append(days)
        return self.report


class FakeDesk(StoreReview):
    """A real review service on an in-memory store; after each decision its terms are those of `held`."""

    def __init__(self, held: FakeActions) -> None:
        self.store = Store("sqlite://", Path("/nowhere"))
        super().__init__(self.store)
        self._held = held
        self.store.lexicons.replace_candidates(held.all_terms)
        for one in held.all_terms:
            if one.status is not TermStatus.CANDIDATE:
                decide(self.store, [one.text], one.status)
        for number in range(1, held.published.version + 1):
            self.store.lexicons.publish(Lexicon(number, held.published.entries))

    def apply(self, kind: ReviewDecisionKind, edits: Sequence[TermEdit], actor: str) -> ReviewDecision:
        return self._told(super().apply(kind, edits, actor))

    def merge(self, text: str, into: str, actor: str, expected_version: int | None) -> ReviewDecision:
        return self._told(super().merge(text, into, actor, expected_version))

    def rename(self, text: str, new_text: str, actor: str, expected_version: int | None) -> ReviewDecision:
        return self._told(super().rename(text, new_text, actor, expected_version))

    def undo(self, actor: str, act_id: int | None) -> ReviewDecision:
        return self._told(super().undo(actor, act_id))

    def publish(self, actor: str, note: str = "") -> Lexicon:
        self._held.published = super().publish(actor, note)
        return self._held.published

    def _told(self, act: ReviewDecision) -> ReviewDecision:
        order = [one.text for one in self._held.all_terms]
        now = {one.text: one for one in self.find_page(TermQuery(None, limit=10_000))[1]}
        known = [now.pop(text) for text in order if text in now]
        self._held.all_terms[:] = [*known, *now.values()]
        return act


def term(text: str, score: float = 10.0, **changes: Any) -> Term:
    """Return a candidate with one context that contains it."""
    evidence: dict[str, Any] = {
        "frequency": 12,
        "document_count": 5,
        "pos_tags": "n n",
        "contexts": (f"说到{text}，大家都知道。",),
    }
    return Term(text, score, **{**evidence, **changes})


class FakeAccounts:
    """Accounts in memory; all have the password `PASSWORD`."""

    def __init__(self, **roles: Role) -> None:
        self.known = {name: Account(name, PASSWORD_HASH, frozenset({role})) for name, role in roles.items()}
        self.ended: set[str] = set()

    def find(self, name: str) -> Account | None:
        return self.known.get(normalize_account_name(name))

    def has_no_active_account(self) -> bool:
        return all(one.disabled_at is not None for one in self.known.values())

    def revoke_session(self, session_id: str, expires_at: float) -> None:
        self.ended.add(session_id)

    def is_session_revoked(self, session_id: str, name: str, expires_at: float) -> bool:
        return session_id in self.ended

    def set_password(self, name: str, password_hash: str) -> None:
        self.change(name, password_hash=password_hash, password_is_temporary=False)

    def change(self, name: str, **changes: Any) -> None:
        self.known[name] = replace(self.known[name], **changes)


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
    actions: FakeActions | None = None,
    settings: SearchSettings | None = None,
    accounts: FakeAccounts | None = None,
    log: SearchLogWriter | None = None,
    **more: Any,
) -> Flask:
    """Return the application with fakes for all services that are not given; `OPERATOR` can sign in."""
    search_settings = settings or SearchSettings()
    app = create_app(
        lambda: search_settings,
        search or FakeSearch(),
        actions or FakeActions(),
        accounts if accounts is not None else FakeAccounts(operator=Role.OPERATOR),
        log or SearchLogWriter(KeptLog().keep),
        b"k" * 32,
        **{"topic_backend": NoTopicBackend(), "query_vectors": NoQueryVectors(), **more},
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
