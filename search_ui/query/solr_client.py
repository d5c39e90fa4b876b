"""Ask Solr: the only network call of this package."""

import json
import os
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import urlencode
from zlib import crc32

import urllib3

from docstore.errors import SolrError, SolrUnavailableError
from docstore.solr_session import CONNECT_TIMEOUT_SECONDS, SolrNodes, auth_headers, error_message, redact_credentials
from search_ui.query.solr_query import Params

SolrResponse = Mapping[str, Any]
MAX_RESPONSE_BYTES = 32 * 1024 * 1024  # bytes; a page needs some 50 kB, a comparison some hundred
MIN_NODE_SECONDS = 0.1  # seconds that a node is asked for, however many were asked before it
TIME_ALLOWED_SHARE = 0.9  # of a node's time: what it has found by then still reaches us in time
RETRY_PAUSE_SECONDS = 0.2  # seconds
MAX_BACKGROUND_SELECTS = 32  # requests that have a second question under way
_PAGING_PARAMS = ("start", "rows", "cursorMark")
_FORM_HEADERS = {"Content-Type": "application/x-www-form-urlencoded"}


class SolrBackend(Protocol):
    """What the pages need of a search server."""

    def select(self, params: Params) -> SolrResponse:
        """Solr's answer to these parameters.

        Raise `SolrUnavailableError` where asking later may help, `SolrError` where the question was refused.
        """


def select_in_background(solr: SolrBackend, params: Params) -> Future[SolrResponse]:
    """A question that is answered while others are asked. Its `result()` raises what `SolrBackend.select` raises."""
    return _background_pool.submit(solr.select, params)


_background_pool = ThreadPoolExecutor(
    MAX_BACKGROUND_SELECTS, thread_name_prefix="beside"
)  # starts a thread when one is first needed


class SolrSearchClient:
    """Asks `<solr_url>/<collection>/select` by POST; an answer is complete within `timeout` seconds or given up.

    `solr_url` is Solr's base URL, as `http://127.0.0.1:8983/solr` or `http://user:password@host/solr`, or those of
    several nodes with commas between: what one does not answer the next one is asked. Safe to use from several threads.
    Of more than `at_once` questions the later ones wait (0: than cores of this machine and one): Solr would work on all
    of them at the same time, and each would take as long as all together.
    """

    def __init__(self, solr_url: str, collection: str, timeout: float, max_concurrent: int = 0) -> None:
        max_concurrent = max_concurrent or (os.cpu_count() or 1) + 1
        self._nodes, self._path = SolrNodes(solr_url), f"/{collection}/select"
        self._display_url = f"{redact_credentials(solr_url)}{self._path}"
        self._is_cluster = len(self._nodes.urls) > 1
        self._headers = _FORM_HEADERS | auth_headers(solr_url)
        self._timeout = timeout
        # Not requests, which takes thrice the time of a question, and heeds a proxy that is meant for the crawl.
        self._pool = urllib3.PoolManager(maxsize=max_concurrent, retries=False, timeout=timeout)
        self._threads = ThreadPoolExecutor(max_concurrent, thread_name_prefix="solr")

    def select(self, params: Params) -> SolrResponse:
        """See `SolrBackend.select`. Solr itself is told to stop in time and may answer with part of the results.

        A thread asks and this one waits: a socket's own time-out starts anew with every byte that drips in.
        """
        deadline = time.monotonic() + self._timeout  # also of a question that waits for a thread first
        future = self._threads.submit(self._select_with_failover, params, deadline)
        try:
            return future.result(self._timeout)
        except TimeoutError as error:
            future.cancel()
            raise SolrUnavailableError(f"Solr at {self._display_url} took longer than {self._timeout:g} s") from error

    def _select_with_failover(self, params: Params, deadline: float) -> SolrResponse:
        """The answer of the first node that has one.

        Where none has, and there is time, all are asked once more: those that live may just have relied on one that has
        died.
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
        raise AssertionError("it has answered, or raised")

    def _try_nodes(self, params: Params, deadline: float) -> SolrResponse:
        """Each node has half of the time that is left, the last one all of it.

        And is told so, lest it goes on when nobody waits for it any more while the next one begins.
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
        raise AssertionError("there is a last node")

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
            raise SolrUnavailableError(f"Solr does not answer at {self._display_url}: {error}") from error

    def _read_body(self, response: urllib3.BaseHTTPResponse, deadline: float) -> bytes:
        """The body; past the deadline nobody waits for it any more."""
        body = bytearray()
        for chunk in response.stream(65536):
            body += chunk
            if len(body) > MAX_RESPONSE_BYTES or time.monotonic() > deadline:
                response.close()
                raise SolrUnavailableError(f"Solr's answer from {self._display_url} was too slow or too large")
        response.release_conn()
        return bytes(body)


def replica_routing_params(params: Params) -> Params:
    """What makes all pages of one search come from the same replicas, and those of others from others.

    Replicas differ in what they have merged, so scores and the order of equals do as well.
    """
    search = "\n".join(f"{name}={value}" for name, value in params if name not in _PAGING_PARAMS)
    key = crc32(search.encode("utf-8", "replace"))
    return [("shards.preference", "replica.base:stable:hash:routing"), ("routing", f"{key:08x}")]


def _parse_response(status: int, body: bytes) -> SolrResponse:
    if status == HTTPStatus.BAD_REQUEST:
        raise SolrError(f"Solr refused the query: {error_message(body, 300, 200)}")
    if status != HTTPStatus.OK:
        raise SolrUnavailableError(f"Solr answered {status}: {error_message(body, 300, 200)}")
    try:
        document = json.loads(body)
    except ValueError as error:
        raise SolrUnavailableError("Solr's answer is not JSON; is this address a Solr?") from error
    if not isinstance(document, dict):
        raise SolrUnavailableError("Solr's answer is not a JSON object; is this address a Solr?")
    return document
