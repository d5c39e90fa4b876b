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
from docstore.solr_http import CONNECT_SECONDS, SolrNodes, auth_headers, message_of, shown_url
from search_ui.query.clauses import Params

Answer = Mapping[str, Any]
LARGEST_ANSWER = 32 * 1024 * 1024  # bytes; a page needs some 50 kB, a comparison some hundred
SHORTEST = 0.1  # seconds that a node is asked for, however many were asked before it
ANSWERED = 0.9  # of a node's time: what it has found by then still reaches us in time
AGAIN_AFTER = 0.2  # seconds
BESIDE = 32  # requests that have a second question under way
_OF_A_PAGE = ("start", "rows", "cursorMark")
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Search(Protocol):
    """What the pages need of a search server."""

    def select(self, params: Params) -> Answer:
        """Solr's answer to these parameters.

        Raise `SolrUnavailableError` where asking later may help, `SolrError` where the question was refused.
        """


def select_beside(search: Search, params: Params) -> Future[Answer]:
    """A question that is answered while others are asked. Its `result()` raises what `Search.select` raises."""
    return _beside.submit(search.select, params)


_beside = ThreadPoolExecutor(BESIDE, thread_name_prefix="beside")  # starts a thread when one is first needed


class SearchClient:
    """Asks `<solr_url>/<collection>/select` by POST; an answer is complete within `timeout` seconds or given up.

    `solr_url` is Solr's base URL, as `http://127.0.0.1:8983/solr` or `http://user:password@host/solr`, or those of
    several nodes with commas between: what one does not answer the next one is asked. Safe to use from several threads.
    Of more than `at_once` questions the later ones wait (0: than cores of this machine and one): Solr would work on all
    of them at the same time, and each would take as long as all together.
    """

    def __init__(self, solr_url: str, collection: str, timeout: float, at_once: int = 0) -> None:
        at_once = at_once or (os.cpu_count() or 1) + 1
        self._nodes, self._path = SolrNodes(solr_url), f"/{collection}/select"
        self._address = f"{shown_url(solr_url)}{self._path}"
        self._is_cluster = len(self._nodes.urls) > 1
        self._headers = _FORM | auth_headers(solr_url)
        self._timeout = timeout
        # Not requests, which takes thrice the time of a question, and heeds a proxy that is meant for the crawl.
        self._pool = urllib3.PoolManager(maxsize=at_once, retries=False, timeout=timeout)
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="solr")

    def select(self, params: Params) -> Answer:
        """See `Search.select`. Solr itself is told to stop in time and may answer with part of the results.

        A thread asks and this one waits: a socket's own time-out starts anew with every byte that drips in.
        """
        deadline = time.monotonic() + self._timeout  # also of a question that waits for a thread first
        asking = self._threads.submit(self._ask, params, deadline)
        try:
            return asking.result(self._timeout)
        except TimeoutError as error:
            asking.cancel()
            raise SolrUnavailableError(f"Solr at {self._address} took longer than {self._timeout:g} s") from error

    def _ask(self, params: Params, deadline: float) -> Answer:
        """The answer of the first node that has one. Where none has, and there is time, all are asked once more: those
        that live may just have relied on one that has died."""
        if not self._is_cluster:
            told = [*params, ("timeAllowed", str(int(self._timeout * 1000)))]
            return self._ask_node(self._nodes.urls[0], told, deadline, 1.0)
        for is_last in (False, True):
            try:
                return self._ask_in_turn([*params, *same_replicas(params)], deadline)
            except SolrUnavailableError:
                if is_last or time.monotonic() + AGAIN_AFTER + SHORTEST > deadline:
                    raise
            time.sleep(AGAIN_AFTER)
        raise AssertionError("it has answered, or raised")

    def _ask_in_turn(self, params: Params, deadline: float) -> Answer:
        """Each node has half of the time that is left, the last one all of it; and is told so, lest it goes on when
        nobody waits for it any more while the next one begins."""
        left = len(self._nodes.urls)
        for node in self._nodes.in_turn():
            left -= 1
            share = 0.5 if left else 1.0
            allowed = ANSWERED * max(share * (deadline - time.monotonic()), SHORTEST)
            try:
                return self._ask_node(node, [*params, ("timeAllowed", str(int(1000 * allowed)))], deadline, share)
            except SolrUnavailableError:
                if not left:
                    raise
        raise AssertionError("there is a last node")

    def _ask_node(self, node: str, params: Params, deadline: float, share: float) -> Answer:
        seconds = max(share * (deadline - time.monotonic()), SHORTEST)
        patience = urllib3.Timeout(connect=min(seconds, CONNECT_SECONDS if share < 1 else seconds), read=seconds)
        body = urlencode(params, errors="replace")
        try:
            response = self._pool.request(
                "POST", node + self._path, body=body, headers=self._headers, preload_content=False, timeout=patience
            )
            return _checked(response.status, self._read(response, time.monotonic() + seconds))
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise SolrUnavailableError(f"Solr does not answer at {self._address}: {error}") from error

    def _read(self, response: urllib3.BaseHTTPResponse, deadline: float) -> bytes:
        """The body; past the deadline nobody waits for it any more."""
        body = bytearray()
        for chunk in response.stream(65536):
            body += chunk
            if len(body) > LARGEST_ANSWER or time.monotonic() > deadline:
                response.close()
                raise SolrUnavailableError(f"Solr's answer from {self._address} was too slow or too large")
        response.release_conn()
        return bytes(body)


def same_replicas(params: Params) -> Params:
    """What makes all pages of one search come from the same replicas, and those of others from others: replicas differ
    in what they have merged, so scores and the order of equals do as well."""
    search = "\n".join(f"{name}={value}" for name, value in params if name not in _OF_A_PAGE)
    key = crc32(search.encode("utf-8", "replace"))
    return [("shards.preference", "replica.base:stable:hash:routing"), ("routing", f"{key:08x}")]


def _checked(status: int, body: bytes) -> Answer:
    if status == HTTPStatus.BAD_REQUEST:
        raise SolrError(f"Solr refused the query: {message_of(body, 300, 200)}")
    if status != HTTPStatus.OK:
        raise SolrUnavailableError(f"Solr answered {status}: {message_of(body, 300, 200)}")
    try:
        answer = json.loads(body)
    except ValueError as error:
        raise SolrUnavailableError("Solr's answer is not JSON; is this address a Solr?") from error
    if not isinstance(answer, dict):
        raise SolrUnavailableError("Solr's answer is not a JSON object; is this address a Solr?")
    return answer
