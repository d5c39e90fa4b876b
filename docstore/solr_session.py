"""HTTP to Solr: where its answers are read, and its errors put into words.

The indexer and its node ask by `SolrSession`, on which pysolr stands as well. The search site, for which requests is
too slow, has a pool of urllib3 (`search_ui.query.solr_client`) and reads errors by `error_message`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote, urlsplit

import requests
from urllib3.util import make_headers

CONNECT_TIMEOUT_SECONDS = 2.0  # in which a node takes a connection, where there are others


def split_credentials(url: str) -> tuple[str, tuple[str, str] | None]:
    """A URL without the user and password that it may name, and those: `http://user:password@host/solr`."""
    parts = urlsplit(url.rstrip("/"))
    credentials, separator, host_port = parts.netloc.rpartition("@")
    user, _, password = credentials.partition(":")
    return parts._replace(netloc=host_port).geturl(), (unquote(user), unquote(password)) if separator else None


def node_urls(urls: str) -> list[str]:
    """The base URLs of the nodes that `urls` names, commas between, without users and passwords.

    >>> node_urls("http://plumb:word@a:8983/solr, http://b:8983/solr/")
    ['http://a:8983/solr', 'http://b:8983/solr']
    """
    return [split_credentials(url.strip())[0] for url in urls.split(",") if url.strip()] or [""]


def credentials_from_urls(urls: str) -> tuple[str, str] | None:
    """The user and password that the first of these URLs with any names: all nodes know the same."""
    return next((credentials for url in urls.split(",") if (credentials := split_credentials(url.strip())[1])), None)


def redact_credentials(urls: str) -> str:
    """A URL, or those of several nodes, as it may be shown."""
    return ", ".join(node_urls(urls))


def auth_headers(urls: str) -> dict[str, str]:
    """The headers by which a request shows the user and password that a URL names; none where it names none."""
    credentials = credentials_from_urls(urls)
    return make_headers(basic_auth=":".join(credentials)) if credentials else {}


class SolrNodes:
    """The nodes of a SolrCloud: each answers for all, so the one that answered last is asked first, the next where it
    does not answer. Safe to use from several threads: what they may forget of each other costs a try."""

    def __init__(self, urls: str) -> None:
        self.urls = node_urls(urls)
        self._preferred = 0

    def iter_failover_order(self) -> Iterator[str]:
        """Every node once, the one to be asked first at the beginning. Who asks for the next says that this one does
        not answer."""
        start = self._preferred
        for step in range(len(self.urls)):
            index = (start + step) % len(self.urls)
            if step:
                self._preferred = index
            yield self.urls[index]


def is_unavailable_status(status: int) -> bool:
    """Does an answer with this status say that the node cannot do it now, where another may?"""
    return status in (HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT)


class SolrSession(requests.Session):
    """Connections to the Solr at `base_url` (or to its nodes, commas between), where a request may take `timeout`
    seconds; not by a proxy, which is meant for the crawl. Every request carries the user and password that the URL
    names. One that a node does not answer goes to the next one: all that is sent here may be sent twice.

    Every method raises `requests.RequestException`; where Solr answered with an error, its text is `(HTTP 500) why`.
    """

    def __init__(self, base_url: str, timeout: float) -> None:
        super().__init__()
        self.trust_env = False
        self._nodes, self.auth, self._timeout = SolrNodes(base_url), credentials_from_urls(base_url), timeout
        self._base_url = self._nodes.urls[0]

    def request(self, method: str | bytes, url: str | bytes, *args: Any, **kwargs: Any) -> requests.Response:
        """As `requests.Session.request`; a URL below the first node's stands for the same at any of them."""
        path, last_error = str(url).removeprefix(self._base_url), None
        if len(self._nodes.urls) > 1:
            kwargs["timeout"] = (min(CONNECT_TIMEOUT_SECONDS, self._timeout), kwargs.get("timeout"))
        for node in self._nodes.iter_failover_order():
            try:
                response = super().request(method, node + path, *args, **kwargs)
            except (requests.ConnectionError, requests.Timeout) as error:
                last_error = error
                continue
            if not is_unavailable_status(response.status_code):
                return response
            last_error = None
        if last_error is not None:
            raise last_error
        return response

    def fetch(self, path: str, params: Mapping[str, str], body: bytes | None = None) -> requests.Response:
        """The answer from `<base_url>/<path>`; a `body` is posted to it."""
        method, url = "GET" if body is None else "POST", f"{self._base_url}/{path}"
        headers = {"Content-Type": "application/octet-stream"}
        response = self.request(method, url, params=params, data=body, headers=headers, timeout=self._timeout)
        if not response.ok:
            raise requests.HTTPError(f"(HTTP {response.status_code}) {error_message(response.content)}")
        return response

    def request_json(
        self, path: str, params: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> dict[str, Any]:
        """The same where Solr answers in JSON."""
        payload: dict[str, Any] = self.fetch(path, {**(params or {}), "wt": "json"}, body).json()
        return payload

    def post_form_json(self, path: str, params: Sequence[tuple[str, str]]) -> dict[str, Any]:
        """The answer in JSON to many parameters, which would be too long for a URL."""
        response = self.request(
            "POST", f"{self._base_url}/{path}", data=[*params, ("wt", "json")], timeout=self._timeout
        )
        if not response.ok:
            raise requests.HTTPError(f"(HTTP {response.status_code}) {error_message(response.content)}")
        payload: dict[str, Any] = response.json()
        return payload

    def cluster_status(self) -> dict[str, Any]:
        """The cluster's nodes, aliases and collections as Solr's CLUSTERSTATUS has them."""
        cluster: dict[str, Any] = self.request_json("admin/collections", {"action": "CLUSTERSTATUS"})["cluster"]
        return cluster


def collection_replicas(collection: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The replicas of a collection in `SolrSession.cluster_status`, of all its shards."""
    return [replica for shard in collection["shards"].values() for replica in shard["replicas"].values()]


def error_message(response_body: bytes, max_chars: int | None = None, max_page_chars: int = 400) -> str:
    """Solr's own words about an error, at most so many characters; of an answer that is not Solr's the beginning."""
    try:
        return str(json.loads(response_body)["error"]["msg"])[:max_chars]
    except (ValueError, KeyError, TypeError):
        return " ".join(response_body[:max_page_chars].decode("utf-8", "replace").split())
