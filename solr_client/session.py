"""HTTP client for Solr: node failover, authentication and error messages.

The indexer and the Solr node manager use `SolrSession`, which is also the transport of pysolr. The search site uses its
own urllib3 pool (`search_ui.query.solr_client`), because requests is too slow for it, and `error_message` from here.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote, urlsplit

import requests
from urllib3.util import make_headers

CONNECT_TIMEOUT_SECONDS = 2.0  # maximum per node, if there are several nodes


def split_credentials(url: str) -> tuple[str, tuple[str, str] | None]:
    """Split `http://user:password@host/solr` into the URL without credentials and (user, password), or None."""
    parts = urlsplit(url.rstrip("/"))
    credentials, separator, host_port = parts.netloc.rpartition("@")
    user, _, password = credentials.partition(":")
    return parts._replace(netloc=host_port).geturl(), (unquote(user), unquote(password)) if separator else None


def node_urls(urls: str) -> list[str]:
    """Split comma-separated node URLs into a list of base URLs without credentials.

    >>> node_urls("http://plumb:word@a:8983/solr, http://b:8983/solr/")
    ['http://a:8983/solr', 'http://b:8983/solr']
    """
    return [split_credentials(url.strip())[0] for url in urls.split(",") if url.strip()] or [""]


def credentials_from_urls(urls: str) -> tuple[str, str] | None:
    """Return (user, password) of the first URL with credentials, or None. All nodes use the same credentials."""
    return next((credentials for url in urls.split(",") if (credentials := split_credentials(url.strip())[1])), None)


def redact_credentials(urls: str) -> str:
    """Return the comma-separated URLs without credentials, for display."""
    return ", ".join(node_urls(urls))


def auth_headers(urls: str) -> dict[str, str]:
    """Return the HTTP headers for the credentials in `urls`; empty if there are none."""
    credentials = credentials_from_urls(urls)
    return make_headers(basic_auth=":".join(credentials)) if credentials else {}


class SolrNodes:
    """The nodes of a SolrCloud cluster, in failover order. Each node answers for the whole cluster.

    The node that responded last is preferred. Thread-safe: a lost update of the preferred node costs at most one extra
    request.
    """

    def __init__(self, urls: str) -> None:
        self.urls = node_urls(urls)
        self._preferred = 0

    def iter_failover_order(self) -> Iterator[str]:
        """Yield each node URL once, the preferred node first.

        Advancing the iterator marks the previous node as failed.
        """
        start = self._preferred
        for step in range(len(self.urls)):
            index = (start + step) % len(self.urls)
            if step:
                self._preferred = index
            yield self.urls[index]


def is_unavailable_status(status: int) -> bool:
    """True if an HTTP status (502, 503, 504) means that another node may be able to respond."""
    return status in (HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT)


class SolrSession(requests.Session):
    """HTTP session for Solr with authentication and failover.

    A request that fails on one node is sent to the next. Requests must therefore be safe to repeat. System proxies are
    ignored, because they are meant for the crawl.

    Args:
        base_url: Base URL of Solr, or several node URLs separated by commas, optionally with user and password.
        timeout: Maximum seconds per request.

    Raises:
        requests.RequestException: Raised by every method. If Solr reported an error, it has a `response`, and
            the message is `(HTTP 500) reason`.
    """

    def __init__(self, base_url: str, timeout: float) -> None:
        super().__init__()
        self.trust_env = False
        self._nodes, self.auth, self._timeout = SolrNodes(base_url), credentials_from_urls(base_url), timeout
        self._base_url = self._nodes.urls[0]

    def request(self, method: str | bytes, url: str | bytes, *args: Any, **kwargs: Any) -> requests.Response:
        """Send a request as `requests.Session.request` does, with failover.

        A URL that begins with the base URL of the first node is resolved against each node.
        """
        path = str(url).removeprefix(self._base_url)
        last_error: requests.RequestException = requests.ConnectionError("no node")
        if len(self._nodes.urls) > 1:
            kwargs["timeout"] = (min(CONNECT_TIMEOUT_SECONDS, self._timeout), kwargs.get("timeout"))
        for node in self._nodes.iter_failover_order():
            try:
                response = super().request(method, node + path, *args, **kwargs)
            except (requests.ConnectionError, requests.Timeout) as error:
                last_error = error
                continue
            if response.ok:
                return response
            text = f"(HTTP {response.status_code}) {error_message(response.content)}"
            last_error = requests.HTTPError(text, response=response)
            if not is_unavailable_status(response.status_code):
                break
        raise last_error

    def fetch(self, path: str, params: Mapping[str, str], body: bytes | None = None) -> requests.Response:
        """Return the response of `<base_url>/<path>`. Sends a POST request if there is a `body`, otherwise GET."""
        method, url = "GET" if body is None else "POST", f"{self._base_url}/{path}"
        headers = {"Content-Type": "application/octet-stream"}
        return self.request(method, url, params=params, data=body, headers=headers, timeout=self._timeout)

    def request_json(
        self, path: str, params: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> dict[str, Any]:
        """Return the response of `<base_url>/<path>` as parsed JSON."""
        payload: dict[str, Any] = self.fetch(path, {**(params or {}), "wt": "json"}, body).json()
        return payload

    def post_form_json(self, path: str, params: Sequence[tuple[str, str]]) -> dict[str, Any]:
        """Send parameters that are too long for a URL as a form, and return the response as parsed JSON."""
        response = self.request(
            "POST", f"{self._base_url}/{path}", data=[*params, ("wt", "json")], timeout=self._timeout
        )
        payload: dict[str, Any] = response.json()
        return payload

    def cluster_status(self) -> dict[str, Any]:
        """Return nodes, aliases and collections of the cluster, in the format of Solr's CLUSTERSTATUS."""
        cluster: dict[str, Any] = self.request_json("admin/collections", {"action": "CLUSTERSTATUS"})["cluster"]
        return cluster


def collection_replicas(collection: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the replicas of all shards of a collection in `SolrSession.cluster_status`."""
    return [replica for shard in collection["shards"].values() for replica in shard["replicas"].values()]


def error_message(response_body: bytes, max_chars: int | None = None, max_page_chars: int = 400) -> str:
    """Extract the error message from a Solr response.

    Args:
        response_body: Body of an error response.
        max_chars: Maximum length of Solr's message; None for no limit.
        max_page_chars: Number of bytes to return of a response that does not come from Solr.
    """
    try:
        return str(json.loads(response_body)["error"]["msg"])[:max_chars]
    except (ValueError, KeyError, TypeError):
        return " ".join(response_body[:max_page_chars].decode("utf-8", "replace").split())
