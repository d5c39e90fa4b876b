"""HTTP to Solr: where its answers are read, and its errors put into words.

The indexer and its node ask by `SolrSession`, on which pysolr stands as well. The search site, for which requests is
too slow, has a pool of urllib3 (`search_ui.query.solr_client`) and reads errors by `message_of`.
"""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import requests
from urllib3.util import make_headers


def split_url(url: str) -> tuple[str, tuple[str, str] | None]:
    """A URL without the user and password that it may name, and those: `http://user:password@host/solr`."""
    parts = urlsplit(url.rstrip("/"))
    named, at, place = parts.netloc.rpartition("@")
    user, _, password = named.partition(":")
    return parts._replace(netloc=place).geturl(), (unquote(user), unquote(password)) if at else None


def shown_url(url: str) -> str:
    """A URL as it may be shown."""
    return split_url(url)[0]


def auth_headers(url: str) -> dict[str, str]:
    """The headers by which a request shows the user and password that a URL names; none where it names none."""
    _, account = split_url(url)
    return make_headers(basic_auth=":".join(account)) if account else {}


class SolrSession(requests.Session):
    """Connections to the Solr at `base_url`, where a request may take `timeout` seconds; not by a proxy, which is meant
    for the crawl. Every request carries the user and password that the URL names.

    Every method raises `requests.RequestException`; where Solr answered with an error, its text is `(HTTP 500) why`.
    """

    def __init__(self, base_url: str, timeout: float) -> None:
        super().__init__()
        self.trust_env = False
        (self._base_url, self.auth), self._timeout = split_url(base_url), timeout

    def fetch(self, path: str, params: Mapping[str, str], body: bytes | None = None) -> requests.Response:
        """The answer from `<base_url>/<path>`; a `body` is posted to it."""
        method, url = "GET" if body is None else "POST", f"{self._base_url}/{path}"
        headers = {"Content-Type": "application/octet-stream"}
        response = self.request(method, url, params=params, data=body, headers=headers, timeout=self._timeout)
        if not response.ok:
            raise requests.HTTPError(f"(HTTP {response.status_code}) {message_of(response.content)}")
        return response

    def ask(self, path: str, params: Mapping[str, str] | None = None, body: bytes | None = None) -> dict[str, Any]:
        """The same where Solr answers in JSON."""
        answer: dict[str, Any] = self.fetch(path, {**(params or {}), "wt": "json"}, body).json()
        return answer

    def cluster(self) -> dict[str, Any]:
        """The cluster's nodes, aliases and collections as Solr's CLUSTERSTATUS has them."""
        cluster: dict[str, Any] = self.ask("admin/collections", {"action": "CLUSTERSTATUS"})["cluster"]
        return cluster


def replicas_of(collection: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The replicas of a collection in `SolrSession.cluster`, of all its shards."""
    return [replica for shard in collection["shards"].values() for replica in shard["replicas"].values()]


def message_of(body: bytes, longest: int | None = None, of_page: int = 400) -> str:
    """Solr's own words about an error, at most so many characters; of an answer that is not Solr's the beginning."""
    try:
        return str(json.loads(body)["error"]["msg"])[:longest]
    except (ValueError, KeyError, TypeError):
        return " ".join(body[:of_page].decode("utf-8", "replace").split())
