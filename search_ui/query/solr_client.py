"""Sends requests to Solr. This is the only network access of the package."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import urlencode
from zlib import crc32

import urllib3

from domain.errors import (
    MISSING_COLLECTION_MESSAGE,
    CollectionReplacedError,
    SolrError,
    SolrUnavailableError,
    UnknownFieldError,
)
from search_ui.query.solr_query import Params
from solr_client.session import CONNECT_TIMEOUT_SECONDS, SolrNodes, auth_headers, error_message, redact_credentials

SolrDocument = Mapping[str, Any]
SolrResponse = Mapping[str, Any]
MAX_RESPONSE_BYTES = 32 * 1024 * 1024  # a page needs about 50 kB, a comparison about 100 kB
MIN_NODE_SECONDS = 0.1  # minimum time for a node, however many failed before it
TIME_ALLOWED_SHARE = 0.9  # share of a node's time after which it returns partial results
RETRY_PAUSE_SECONDS = 0.2
UNKNOWN_FIELD_MESSAGE = "undefined field"  # in Solr's response to a query with a field that the schema does not have
MAX_BACKGROUND_SELECTS = 32  # concurrent
_PAGING_PARAMS = ("start", "rows", "cursorMark")
_FORM_HEADERS = {"Content-Type": "application/x-www-form-urlencoded"}


def documents(response: SolrResponse) -> Sequence[SolrDocument]:
    """Return the documents of a response; () if it has none."""
    docs: Sequence[SolrDocument] = response.get("response", {}).get("docs", ())
    return docs


def get_text(doc: SolrDocument, name: str) -> str:
    """Return the value of a field as text, the first of several; "" if the document has none."""
    value = doc.get(name, "")
    return str(value[0]) if isinstance(value, list) and value else str(value)


def match_count(response: SolrResponse) -> int:
    """Return the number of matching documents, of which a response contains the requested page."""
    return int(response.get("response", {}).get("numFound", 0))


def is_partial(response: SolrResponse) -> bool:
    """Return True if Solr ran out of time and returned what it had found."""
    return bool(response.get("responseHeader", {}).get("partialResults", False))


def with_documents(response: SolrResponse, docs: Sequence[SolrDocument], count: int | None = None) -> SolrResponse:
    """Return a response with other documents and, if `count` is set, another number of matching documents."""
    result = {"numFound": match_count(response) if count is None else count, "docs": docs}
    return {**response, "response": {**response.get("response", {}), **result}}


def buckets(response: SolrResponse, name: str) -> Sequence[Mapping[str, Any]]:
    """Return the buckets of a facet; () if the response has no such facet."""
    facet_buckets: Sequence[Mapping[str, Any]] = response.get("facets", {}).get(name, {}).get("buckets", ())
    return facet_buckets


class SolrBackend(Protocol):
    """The search server as the pages use it."""

    def select(self, params: Params) -> SolrResponse:
        """Send a select request.

        Raises:
            SolrUnavailableError: Solr does not respond. A retry can succeed.
            SolrError: Solr rejected the request.
        """


def select_in_background(solr: SolrBackend, params: Params) -> Future[SolrResponse]:
    """Send a request in the background. `result()` of the future raises what `SolrBackend.select` raises."""
    return background_pool.submit(solr.select, params)


background_pool = ThreadPoolExecutor(
    MAX_BACKGROUND_SELECTS, thread_name_prefix="solr-background"
)  # threads start on demand


class SolrSearchClient:
    """Client of `<solr_url>/<collection>/select`. Thread-safe.

    Requests are sent by POST. A response is complete within `timeout` seconds, or the request fails.

    Args:
        solr_url: One base URL (`http://user:password@host:8983/solr`), or several separated by commas. A request that
            fails is retried on the next node.
        collection: The Solr collection.
        timeout: Seconds for a request, including the time in the queue.
        max_concurrent: Maximum number of concurrent requests; 0: number of CPU cores + 1. Further requests wait,
            because
            Solr would work on all at once and each would take longer.
    """

    def __init__(self, solr_url: str, collection: str, timeout: float, max_concurrent: int = 0) -> None:
        max_concurrent = max_concurrent or (os.cpu_count() or 1) + 1
        self._nodes, self._path = SolrNodes(solr_url), f"/{collection}/select"
        self._display_url = f"{redact_credentials(solr_url)}{self._path}"
        self._is_cluster = len(self._nodes.urls) > 1
        self._headers = _FORM_HEADERS | auth_headers(solr_url)
        self._timeout = timeout
        # Not `requests`: it takes three times as long as the request itself and uses the proxy meant for the crawl.
        self._pool = urllib3.PoolManager(maxsize=max_concurrent, retries=False, timeout=timeout)
        self._threads = ThreadPoolExecutor(max_concurrent, thread_name_prefix="solr")

    def select(self, params: Params) -> SolrResponse:
        """Send a request. See `SolrBackend.select`. Solr stops in time and can return partial results.

        A worker thread sends the request while this thread waits with a timeout: the timeout of a socket restarts with
        every byte received.
        """
        deadline = time.monotonic() + self._timeout  # includes the time in the queue
        future = self._threads.submit(self._select_with_failover, params, deadline)
        try:
            return future.result(self._timeout)
        except TimeoutError as error:
            future.cancel()
            raise SolrUnavailableError(f"Solr at {self._display_url} took longer than {self._timeout:g} s") from error

    def _select_with_failover(self, params: Params, deadline: float) -> SolrResponse:
        """Return the response of the first node that responds.

        If no node responds and time remains, all nodes are tried once more: the remaining nodes may have depended on a
        node that just failed.
        """
        if not self._is_cluster:
            params_with_limit = [*params, ("timeAllowed", str(int(self._timeout * 1000)))]
            return self._select_on_node(self._nodes.urls[0], params_with_limit, deadline, 1.0)
        for is_last_attempt in (False, True):
            try:
                return self._try_nodes([*params, *replica_routing_params(params)], deadline)
            except SolrUnavailableError:
                if is_last_attempt or time.monotonic() + RETRY_PAUSE_SECONDS + MIN_NODE_SECONDS > deadline:
                    raise
            time.sleep(RETRY_PAUSE_SECONDS)
        raise AssertionError("unreachable")

    def _try_nodes(self, params: Params, deadline: float) -> SolrResponse:
        """Try each node with half of the remaining time, the last node with all of it.

        `timeAllowed` is set accordingly, so that an abandoned node stops working.
        """
        nodes_left = len(self._nodes.urls)
        for node in self._nodes.iter_failover_order():
            nodes_left -= 1
            share = 0.5 if nodes_left else 1.0
            seconds_allowed = TIME_ALLOWED_SHARE * max(share * (deadline - time.monotonic()), MIN_NODE_SECONDS)
            try:
                return self._select_on_node(
                    node, [*params, ("timeAllowed", str(int(1000 * seconds_allowed)))], deadline, share
                )
            except SolrUnavailableError:
                if not nodes_left:
                    raise
        raise AssertionError("unreachable")

    def _select_on_node(self, node: str, params: Params, deadline: float, share: float) -> SolrResponse:
        seconds = max(share * (deadline - time.monotonic()), MIN_NODE_SECONDS)
        timeout = urllib3.Timeout(connect=min(seconds, CONNECT_TIMEOUT_SECONDS if share < 1 else seconds), read=seconds)
        body = urlencode(params, errors="replace")
        try:
            response = self._pool.request(
                "POST", node + self._path, body=body, headers=self._headers, preload_content=False, timeout=timeout
            )
            return _parse_response(response.status, self._read_body(response, time.monotonic() + seconds))
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise SolrUnavailableError(f"Solr at {self._display_url} does not respond: {error}") from error

    def _read_body(self, response: urllib3.BaseHTTPResponse, deadline: float) -> bytes:
        """Read the body of a response. Raises SolrUnavailableError if it is too large or the deadline has passed."""
        body = bytearray()
        for chunk in response.stream(65536):
            body += chunk
            if len(body) > MAX_RESPONSE_BYTES or time.monotonic() > deadline:
                response.close()
                raise SolrUnavailableError(f"response of Solr at {self._display_url} was too slow or too large")
        response.release_conn()
        return bytes(body)


def replica_routing_params(params: Params) -> Params:
    """Build the parameters that send all pages of one search to the same replicas.

    Replicas differ in merged segments, so scores and the order of ties can differ. Other searches use other replicas.
    """
    search = "\n".join(f"{name}={value}" for name, value in params if name not in _PAGING_PARAMS)
    key = crc32(search.encode("utf-8", "replace"))
    return [("shards.preference", "replica.base:stable:hash:routing"), ("routing", f"{key:08x}")]


def _parse_response(status: int, body: bytes) -> SolrResponse:
    if status == HTTPStatus.BAD_REQUEST:
        message = error_message(body, 300, 200)
        if MISSING_COLLECTION_MESSAGE in message:
            raise CollectionReplacedError(f"Solr rejected the query: {message}")
        if UNKNOWN_FIELD_MESSAGE in message:
            raise UnknownFieldError(f"Solr rejected the query: {message}")
        raise SolrError(f"Solr rejected the query ({message}): shorten it or remove operators and filters")
    if status != HTTPStatus.OK:
        raise SolrUnavailableError(f"Solr responded with status {status}: {error_message(body, 300, 200)}")
    try:
        document = json.loads(body)
    except ValueError as error:
        raise SolrUnavailableError(
            "the response is not JSON: check that index.solr_url is the URL of a Solr"
        ) from error
    if not isinstance(document, dict):
        raise SolrUnavailableError("the response is not a JSON object: check that index.solr_url is the URL of a Solr")
    return document
