"""Ask Solr: the only network call of this package."""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import requests

from docstore.errors import SolrError, SolrUnavailableError
from search_ui.ranking import Params

Answer = Mapping[str, Any]
LARGEST_ANSWER = 32 * 1024 * 1024  # bytes; a page needs some 50 kB, a comparison some hundred


class Search(Protocol):
    """What the pages need of a search server."""

    def select(self, params: Params) -> Answer:
        """Solr's answer to these parameters.

        Raise `SolrUnavailableError` where asking later may help, `SolrError` where the question was refused.
        """


class SearchClient:
    """Asks `<solr_url>/<collection>/select` by POST; an answer is complete within `timeout` seconds or given up.

    `solr_url` is Solr's base address, as `http://127.0.0.1:8983/solr`. Safe to use from several threads.
    """

    def __init__(
        self, solr_url: str, collection: str, timeout: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._address = f"{solr_url.rstrip('/')}/{collection}/select"
        self._timeout = timeout
        self._clock = clock
        self._session = requests.Session()
        self._session.trust_env = False  # a proxy meant for the crawl is not meant for Solr

    def select(self, params: Params) -> Answer:
        """See `Search.select`. Solr itself is told to stop in time and may answer with part of the results."""
        deadline = self._clock() + self._timeout
        limited = [*params, ("timeAllowed", str(int(self._timeout * 1000)))]
        try:
            with self._session.post(self._address, data=limited, timeout=self._timeout, stream=True) as response:
                return _checked(response.status_code, self._read(response, deadline))
        except requests.RequestException as error:
            raise SolrUnavailableError(f"Solr does not answer at {self._address}: {error}") from error

    def _read(self, response: requests.Response, deadline: float) -> bytes:
        """The body, within the deadline: the library's own time-out starts anew with every byte."""
        body = bytearray()
        for chunk in response.iter_content(65536):
            body += chunk
            if self._clock() > deadline or len(body) > LARGEST_ANSWER:
                raise SolrUnavailableError(f"Solr's answer from {self._address} was too slow or too large")
        return bytes(body)


def _checked(status: int, body: bytes) -> Answer:
    if status == requests.codes.bad_request:
        raise SolrError(f"Solr refused the query: {_message(body)}")
    if status != requests.codes.ok:
        raise SolrUnavailableError(f"Solr answered {status}: {_message(body)}")
    try:
        answer = json.loads(body)
    except ValueError as error:
        raise SolrUnavailableError("Solr's answer is not JSON; is this address a Solr?") from error
    if not isinstance(answer, dict):
        raise SolrUnavailableError("Solr's answer is not a JSON object; is this address a Solr?")
    return answer


def _message(body: bytes) -> str:
    """Solr's own words about an error, one line."""
    try:
        return str(json.loads(body)["error"]["msg"])[:300]
    except (ValueError, KeyError, TypeError):
        return " ".join(body[:200].decode("utf-8", "replace").split())
