"""The search site as a WSGI application on the engine of a vertical."""

import fcntl
import logging
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from flask import Flask

from domain.errors import (
    CollectionReplacedError,
    SolrStartingError,
    SolrUnavailableError,
    StoreError,
    UnknownFieldError,
)
from locks.private_files import open_private
from pipeline.engine import Engine
from pipeline.search_site.administration import build_administration
from pipeline.search_site.public_backend import StoreSiteBackend
from pipeline.search_site.query_vectors import StoreQueryVectors
from pipeline.search_site.store_metrics import StoreMetrics
from search_ui.admin.metrics import SiteMetrics
from search_ui.app import create_app
from search_ui.query.solr_client import SolrResponse, SolrSearchClient
from search_ui.query.solr_query import MATCH_ALL_PARAM, Params, QueryParam, SolrQuery
from search_ui.search_log import SearchLogWriter
from search_ui.services.compare import LexiconResult, compare_lexicons
from search_ui.settings import SearchSettings
from solr_client import solr_fields

log = logging.getLogger(__name__)

SAME_PAGE_SECONDS = 0.02  # in which a page sends its first requests, which share one look into the store


class EngineSearchClient:
    """Search client for the engine's current Solr, which may restart at another URL, with the current settings.

    With `opens_solr` a search opens Solr if it is not open. Without it, a search fails immediately until Solr is open.
    Pages that were taken down are hidden at once, also in a Solr that has not deleted them yet. After an upgrade, the
    collection of the earlier version gets the new fields with the first query that uses one.
    """

    def __init__(self, engine: Engine, opens_solr: bool = True) -> None:
        self._engine = engine
        self._opens_solr = opens_solr
        self._client: SolrSearchClient | None = None
        self._client_key: tuple[str, float, int] | None = None
        self._fields_lock = threading.Lock()
        self._has_added_fields = False
        self._hidden_lock = threading.Lock()
        self._hidden_ids: Sequence[str] = ()
        self._hidden_until = 0.0

    def select(self, params: Params) -> SolrResponse:
        """Send a search request, see `search_ui.query.solr_client.SolrBackend`."""
        if not (self._opens_solr or self._engine.has_index):
            if error := self._engine.index_error:
                raise SolrUnavailableError(error)
            raise SolrStartingError("Solr is still starting")
        settings = self._engine.settings.current().search
        client_key = self._engine.index.base_url, settings.timeout, settings.at_once
        if self._client is None or client_key != self._client_key:
            self._client, self._client_key = create_search_client(self._engine, settings), client_key
        params = [*params, *self._takedown_filter()]
        try:
            return self._client.select(params)
        except UnknownFieldError:
            self._add_missing_fields()
        except CollectionReplacedError:
            log.info("the collection was replaced during a query; the query is repeated")
        return self._client.select(params)

    def _takedown_filter(self) -> Params:
        """Return the filter that hides the documents of pages taken down until the index has deleted them."""
        with self._hidden_lock, suppress(StoreError):  # then those of the last request
            if time.monotonic() > self._hidden_until:
                self._hidden_ids = self._engine.store.takedowns.document_ids_in_index()
                self._hidden_until = time.monotonic() + SAME_PAGE_SECONDS
        if not self._hidden_ids:
            return []
        taken_down = QueryParam("taken_down", SolrQuery.terms(solr_fields.ID, "taken_down_ids", self._hidden_ids))
        query = SolrQuery.boolean(must=[MATCH_ALL_PARAM], must_not=[taken_down])
        return [("fq", query.to_syntax()), *query.to_params()]

    def _add_missing_fields(self) -> None:
        """Add the fields of this version to an earlier collection, once. Waits while another thread adds them."""
        with self._fields_lock:
            if not self._has_added_fields:
                self._engine.index.add_missing_fields()
                self._has_added_fields = True


def create_search_client(engine: Engine, settings: SearchSettings) -> SolrSearchClient:
    """Create a search client for the engine's Solr."""
    collection = engine.settings.index.collection
    return SolrSearchClient(engine.index.base_url, collection, settings.timeout, settings.at_once)


def compare_term(engine: Engine, term: str) -> Sequence[LexiconResult]:
    """Return the results for `term` with both lexicons, base first (Wang Du 2019, WD-S3, figs. 6-7).

    Each has the rank of the first document that contains the complete term, MRR and P@10.
    """
    analysis = engine.analysis()
    segmenters = {"base": analysis.base_segmenter, "domain": analysis.domain_segmenter}
    return compare_lexicons(create_search_client(engine, engine.settings.search), segmenters, term)


def create_search_app(
    engine: Engine,
    search_log: SearchLogWriter | None = None,
    opens_solr: bool = True,
    query_vectors: StoreQueryVectors | None = None,
) -> Flask:
    """Create the WSGI application of the search site.

    Args:
        engine: the open vertical.
        search_log: log of the searches; the caller closes it after the last request. Without it, no search is logged.
        opens_solr: whether a search may start Solr, see `EngineSearchClient`.
        query_vectors: computes the vectors of queries; default: models that are loaded when first used.
    """
    # Authorizes /metrics requests from other machines.
    metrics_token = load_or_create_private_text(engine.settings.data_dir / "metrics.token", secrets.token_urlsafe)
    backend = StoreSiteBackend(engine)
    solr = EngineSearchClient(engine, opens_solr)
    return create_app(
        lambda: engine.settings.current().search,
        solr,
        backend,
        build_administration(engine, backend.review),
        search_log or SearchLogWriter(engine.store.search_log.save, max_pending=0),  # 0: drops every entry
        metrics=SiteMetrics(StoreMetrics(engine, solr), metrics_token),
        query_vectors=query_vectors or StoreQueryVectors(engine),
        secret_key=load_session_key(engine),
    )


def load_session_key(engine: Engine) -> bytes:
    """Return the key that signs sessions. All machines that share a store use the same key."""
    local_key = load_or_create_secret(engine.settings.data_dir / "session.key")
    return (
        engine.store.ensure_secret("session_key", local_key.decode()).encode() if engine.store.is_shared else local_key
    )


def load_or_create_secret(path: Path) -> bytes:
    """Return a random key from a private file; created on the first call."""
    return load_or_create_private_text(path, lambda: secrets.token_hex(32)).encode()


def load_or_create_private_text(path: Path, create: Callable[[], str]) -> str:
    """Return the text in a file that only its owner can read.

    Writes the result of `create` if the file is missing or empty. The workers of a new vertical start together: one of
    them writes, the others wait for it.
    """
    try:
        if path.exists() and (text := path.read_text().strip()):
            return text
        with open(path, "a+", opener=open_private) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            if not (text := file.read().strip()):
                text = create()
                file.write(f"{text}\n")
            return text
    except OSError as error:
        raise StoreError(f"cannot read or create {path}: {error.strerror}") from error
