"""Working stand-ins for what `create_app` is given: a small Solr in memory, and a lexicon under review."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.security import generate_password_hash

from docstore import fields
from docstore.errors import LexiconError, SolrError
from docstore.model import Lexicon, LexiconEntry, Term, TermStatus
from search_ui.app import create_app
from search_ui.query import MARK_OFF, MARK_ON
from search_ui.ranking import Params
from search_ui.settings import SearchSettings
from semantics.segment import RjiebaSegmenter, Segmenter

PASSWORD = "correct horse"
PASSWORD_HASH = generate_password_hash(PASSWORD, method="scrypt:1024:8:1")  # cheap: this is a test
BASE = RjiebaSegmenter()


def document(
    number: int, title: str, body: str, published: str = "2016-05-09", site: str = "news.example"
) -> dict[str, Any]:
    """A document as Solr returns it."""
    return {
        fields.ID: f"doc{number}", fields.URL: f"https://{site}/{number}.html", fields.SITE: site,
        fields.TITLE: title, fields.BODY: body, fields.PUBLISHED_TEXT: published,
    }  # fmt: skip


@dataclass
class FakeSearch:
    """Finds documents whose title or body holds the sent text as it stands; keeps what it was asked."""

    documents: list[dict[str, Any]] = field(default_factory=list)
    asked: list[Params] = field(default_factory=list)
    error: SolrError | None = None

    def select(self, params: Params) -> dict[str, Any]:
        self.asked.append(params)
        if self.error:
            raise self.error
        named = dict(params)
        found = [doc for doc in self.documents if _matches(doc, named)]
        start, rows = int(named.get("start", "0")), int(named["rows"])
        docs = found[start : start + rows]
        return {
            "responseHeader": {"status": 0, "QTime": 7},
            "response": {"numFound": len(found), "start": start, "docs": docs},
            "highlighting": {doc[fields.ID]: _highlights(doc, named.get("text", "")) for doc in docs},
            "facets": _facets(found, named),
        }


def _matches(doc: dict[str, Any], named: dict[str, str]) -> bool:
    sites = named.get("sites", "").split(",") if "sites" in named else [doc[fields.SITE]]
    text = named.get("text", named.get("domain_words", named.get("base_words", "")))
    held = f"{doc[fields.TITLE]}\n{doc[fields.BODY]}"
    return doc[fields.SITE] in sites and all(part in held for part in text.replace("\u200b", "").split())


def _highlights(doc: dict[str, Any], text: str) -> dict[str, list[str]]:
    def mark(value: str) -> list[str]:
        return [value.replace(text.strip(), f"{MARK_ON}{text.strip()}{MARK_OFF}") if text.strip() else value]

    return {fields.TITLE: mark(doc[fields.TITLE]), fields.BODY: mark(doc[fields.BODY])}


def _facets(found: Sequence[dict[str, Any]], named: dict[str, str]) -> dict[str, Any]:
    if json.loads(named.get("json.facet", "{}")).get("sites") == "unique(site)":
        return {"sites": len({doc[fields.SITE] for doc in found}), "newest": "2016-05-09T00:00:00Z"}
    sites = [doc[fields.SITE] for doc in found]
    years = [doc[fields.PUBLISHED_TEXT][:4] for doc in found]
    return {
        "sites": {"buckets": [{"val": site, "count": sites.count(site)} for site in dict.fromkeys(sites)]},
        "dates": {"buckets": [{"val": f"{y}-01-01T00:00:00Z", "count": years.count(y)} for y in sorted(set(years))]},
    }


@cache
def _segmenter(texts: tuple[str, ...]) -> Segmenter:
    return RjiebaSegmenter([(text, 0, "n") for text in texts]) if texts else BASE


@dataclass
class FakeActions:
    """A lexicon under review, in memory."""

    all_terms: list[Term] = field(default_factory=list)
    published: Lexicon = field(default_factory=Lexicon)
    lag: int = 0

    def lexicon(self) -> Lexicon:
        return self.published

    def segmenter(self) -> Segmenter:
        return _segmenter(tuple(entry.text for entry in self.published.entries))

    def base_segmenter(self) -> Segmenter:
        return BASE

    def terms(self, status: TermStatus | None, text: str, offset: int, limit: int) -> tuple[int, list[Term]]:
        found = [term for term in self.all_terms if status in (None, term.status) and text in term.text]
        found.sort(key=lambda term: -term.score)
        return len(found), found[offset : offset + limit]

    def term_counts(self) -> dict[TermStatus, int]:
        return {status: self.terms(status, "", 0, 0)[0] for status in TermStatus}

    def decide(self, text: str, status: TermStatus) -> None:
        places = [n for n, term in enumerate(self.all_terms) if term.text == text]
        if not places:
            raise LexiconError(f"no such term: {text}")
        self.all_terms[places[0]] = replace(self.all_terms[places[0]], status=status)

    def publish(self) -> Lexicon:
        if self.pending_publication() == (0, 0):
            raise LexiconError("nothing has changed since the last version")
        entries = tuple(LexiconEntry(text) for text in sorted(self._accepted()))
        self.published = Lexicon(self.published.version + 1, entries)
        return self.published

    def pending_publication(self) -> tuple[int, int]:
        now = {entry.text for entry in self.published.entries}
        return len(self._accepted() - now), len(now - self._accepted())

    def index_lag(self) -> int:
        return self.lag

    def _accepted(self) -> set[str]:
        return {term.text for term in self.all_terms if term.status is TermStatus.ACCEPTED}


def term(text: str, score: float = 10.0, **changes: Any) -> Term:
    """A candidate with one context that holds it."""
    evidence: dict[str, Any] = {
        "frequency": 12,
        "documents": 5,
        "tags": "n n",
        "contexts": (f"说到{text}，大家都知道。",),
    }
    return Term(text, score, **{**evidence, **changes})


def site_app(
    search: FakeSearch | None = None,
    actions: FakeActions | None = None,
    settings: SearchSettings | None = None,
    password_hash: str = PASSWORD_HASH,
    **more: Any,
) -> Flask:
    """The application with stand-ins for what is not named."""
    return create_app(
        settings or SearchSettings(), search or FakeSearch(), actions or FakeActions(), b"k" * 32, password_hash, **more
    )


def form_token(client: FlaskClient) -> str:
    """The form token of this client's session."""
    client.get("/admin/login")
    with client.session_transaction() as kept:
        return str(kept["token"])


def sign_in(client: FlaskClient) -> str:
    """Sign the client in; return the token its forms need."""
    answer = client.post("/admin/login", data={"token": form_token(client), "password": PASSWORD})
    assert answer.status_code == 303
    client.get("/admin/lexicon")
    with client.session_transaction() as kept:
        return str(kept["token"])
