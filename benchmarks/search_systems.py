"""The compared systems: our index and queries, and Solr's own Chinese analyses, each in a separate collection.

All of them run in one real Solr and get their queries from the same client, one after another.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import requests
import rjieba

from benchmarks.search_citations import with_citations
from benchmarks.search_data import Document
from domain.article import StoredArticle
from domain.batches import batched
from domain.term import Lexicon
from indexer.configset import configset_digest, configset_zip
from indexer.document_mapping import TextAnalysis, to_solr_document
from indexer.embedded_solr import EmbeddedSolr
from indexer.settings import IndexSettings
from indexer.solr_index import SolrIndex
from indexer.solr_jars import ensure_jars
from maven_jars.jar_cache import default_cache_folder, parse_lock
from search_ui.query.display_text import normalize_query
from search_ui.query.query_parser import as_plain_words
from search_ui.query.query_plan import QueryPlan
from search_ui.query.query_words import Thesaurus, segment_query
from search_ui.query.ranking import parse_work_boosts, works_params
from search_ui.query.search_request import SearchRequest
from search_ui.query.solr_client import SolrResponse, SolrSearchClient
from search_ui.query.solr_requests import hits_params
from solr_client import solr_fields
from text.segment import RjiebaSegmenter, Segmenter, base_segmenter
from text.solr_words import WORD_SEPARATOR

PEERS = Path(__file__).parent / "peers"
DEPTH = 100  # results of a query
TIMEOUT = 120.0
LONGEST = 400  # characters of a query; the search page cuts earlier, the peers do not
OURS = "plumbline"
WORDS = f"{OURS}-words"


class System(Protocol):
    """An index of one collection, and its search."""

    def load(self, documents: Sequence[Document]) -> None:
        """Index `documents`; they are searchable on return."""

    def search(self, text: str) -> list[str]:
        """Return the ids of at most `DEPTH` documents, best first."""

    def drop(self) -> None:
        """Delete the index."""


@contextmanager
def running_solr(folder: Path) -> Iterator[str]:
    """Run a Solr of our version with the peers' analyses; yields its base URL. Its data are in `folder`.

    The jars of the peers are in Solr's folder for additional jars, because the folder of Solr's own jars contains
    exactly those of its lock file.
    """
    lock = PEERS / "solr_jars.lock"
    peer_jars = ensure_jars(default_cache_folder("solr-peers", lock), print, parse_lock(lock.read_text("utf-8")))
    (folder / "solr").mkdir(parents=True)
    (folder / "solr" / "lib").symlink_to(peer_jars, target_is_directory=True)
    with EmbeddedSolr(folder, IndexSettings(solr_heap="1g")) as node:
        yield node.url


class Ours:
    """Our mapping, index and query code, from the typed text; keywords only."""

    def __init__(self, url: str, name: str, lexicon: Lexicon, profile: str = "plumbline") -> None:
        words = RjiebaSegmenter((entry.text, entry.frequency, entry.pos_tag) for entry in lexicon.entries)
        self._collection = name
        self._profile = profile
        self._analysis = TextAnalysis(lexicon, words, base_segmenter())
        self._index = SolrIndex(url, name, TIMEOUT)
        self._client = SolrSearchClient(url, name, TIMEOUT)
        self._ids: dict[str, str] = {}

    def load(self, documents: Sequence[Document]) -> None:
        """See `System`."""
        self._index.ensure_collection()
        stored = with_citations([document.stored(self._collection) for document in documents])
        self._ids.update((one.doc_id, document.id) for one, document in zip(stored, documents, strict=True))
        for batch in batched(stored, IndexSettings().batch):
            self._index.add([to_solr_document(one, self._analysis, self.vectors(one)) for one in batch])
        self._index.commit(soft=False)

    @property
    def segmenter(self) -> Segmenter:
        """The segmenter with the lexicon."""
        return self._analysis.domain_segmenter

    def search(self, text: str) -> list[str]:
        """See `System`."""
        return [self._ids[doc_id] for doc_id in self.found(self.understood(text))]

    def understood(self, text: str) -> QueryPlan:
        """Parse a query as the search page does."""
        plain = normalize_query(as_plain_words(text), LONGEST)  # punctuation in these queries is not query syntax
        asked = SearchRequest(raw_query=text, text=plain, profile=self._profile)
        words = segment_query(asked, self._analysis.domain_segmenter, self._analysis.base_segmenter, Thesaurus())
        if works := works_params(words, self._profile):
            words = replace(words, work_boosts=parse_work_boosts(self._client.select(works), self._profile))
        return QueryPlan(asked, words)

    def named(self, doc_id: str) -> str:
        """Return the collection id of an index document."""
        return self._ids[doc_id]

    def vectors(self, stored: StoredArticle) -> Mapping[str, bytes]:
        """Return the vectors to index with a document: none."""
        return {}

    def found(self, plan: QueryPlan) -> list[str]:
        """Return the Solr ids of the results, best first."""
        return self.listed(self._client.select(hits_params(plan, DEPTH, field_names=[solr_fields.ID])))

    def listed(self, answer: SolrResponse) -> list[str]:
        """Return the Solr ids of a response, in the order of the results page."""
        return [str(doc[solr_fields.ID]) for doc in answer["response"]["docs"]]

    def drop(self) -> None:
        """See `System`."""
        self._index.delete_all()


class Peer:
    """One of Solr's analyses, with Solr's default query: the parser `lucene`, `df` and `q.op=OR`."""

    def __init__(self, url: str, name: str, field: str) -> None:
        self._url, self._collection, self._field = url, name, field
        self._cut = joined_words if field == "jieba" else str
        self._index = SolrIndex(url, name, TIMEOUT)
        self._client = SolrSearchClient(url, name, TIMEOUT)

    def load(self, documents: Sequence[Document]) -> None:
        """See `System`."""
        configset = f"peers_{configset_digest(PEERS / 'solr')[:8]}"
        self._admin("configs", action="UPLOAD", name=configset, overwrite="true")
        create = {"name": self._collection, "numShards": "1", "collection.configName": configset}
        self._admin("collections", action="CREATE", waitForFinalState="true", **create)
        for batch in batched(documents, IndexSettings().batch):
            self._index.add(
                [{"id": doc.id, self._field: self._cut(f"{doc.title}\n{doc.text}".strip())} for doc in batch]
            )
        self._index.commit(soft=False)

    def search(self, text: str) -> list[str]:
        """See `System`."""
        params = [("q", escaped(self._cut(text))), ("df", self._field), ("q.op", "OR"), ("rows", str(DEPTH))]
        answer = self._client.select([*params, ("fl", "id"), ("wt", "json")])
        return [doc["id"] for doc in answer["response"]["docs"]]

    def drop(self) -> None:
        """See `System`."""
        self._admin("collections", action="DELETE", name=self._collection)

    def _admin(self, what: str, **params: str) -> None:
        body = configset_zip(PEERS / "solr") if params["action"] == "UPLOAD" else b""
        headers = {"Content-Type": "application/octet-stream"}
        with requests.Session() as session:
            session.trust_env = False
            url = f"{self._url}/admin/{what}"
            session.post(url, params=params, data=body, headers=headers, timeout=TIMEOUT).raise_for_status()


def joined_words(text: str) -> str:
    """Return the words of jieba's search mode: long words, and the words in them."""
    words: list[str] = rjieba.cut_for_search(text)
    return WORD_SEPARATOR.join(words)


_SYNTAX = re.compile(r'([-+!(){}\[\]^"~*?:\\/&|])')


def escaped(text: str) -> str:
    """Escape the syntax of the parser `lucene` in `text`."""
    return _SYNTAX.sub(r"\\\1", text.replace("AND", "and").replace("OR", "or").replace("NOT", "not"))


Maker = Callable[[str, str], System]
"""Makes a system from Solr's URL and a name for its collection."""


def _peer(field: str) -> Maker:
    return lambda url, name: Peer(url, name, field)


PEER_SYSTEMS: dict[str, Maker] = {
    "solr-cjk": _peer("cjk"),
    "solr-smartcn": _peer("smartcn"),
    "solr-icu": _peer("icu"),
    "solr-standard": _peer("standard"),
    "jieba": _peer("jieba"),
}


def ours(lexicon: Lexicon, profile: str = "plumbline") -> Maker:
    """Create our system with a lexicon."""
    return lambda url, name: Ours(url, name, lexicon, profile)
