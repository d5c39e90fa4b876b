"""What the indexer says to Solr: documents and searches by pysolr, collections and configsets by `SolrSession`.

    index = SolrIndex(url, "plumbline", timeout=30)
    if index.ensure() is Built.OUTDATED:        # the configset has changed; the old collection answers meanwhile
        fresh = index.successor()               # the new collection, empty: write everything into it ...
        index.switch_alias()                    # ... then let the searches have it
    refused = index.add(documents, Seen.SOON)   # durable when it returns, searchable a second later

Readers search the alias `collection`; behind it stands `<collection>_<digest>`, made from the configset with that
digest. So a changed schema never meets an old index; nor does another number of shards, which is part of the configset.

Of several shards each holds whole clusters (`router.field`), so that copies are collapsed and counted where they are.
Where the cluster of a document changes, it is deleted at its old place before it is added at the new one.
"""

import json
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import IntEnum, StrEnum
from typing import Any, TypeVar

import pysolr
import requests

from docstore import solr_fields
from docstore.batches import batched
from docstore.errors import SolrError, SolrUnavailableError
from docstore.solr_session import SolrSession, collection_replicas, node_urls, redact_credentials
from indexer.configset import configset_digest, configset_zip
from indexer.schema_compat import add_missing_fields
from solr_conf import CONFIGSET_DIR

_log = logging.getLogger(__name__)

T = TypeVar("T")

RETRY_PAUSES_SECONDS = (0.2, 0.5, 1.0, 2.0, 4.0)  # seconds before each further try, while Solr does not answer
FAILOVER_PAUSES_SECONDS = (
    4.0,
    4.0,
    4.0,
    4.0,
)  # a dead node's leadership ends with its session in ZooKeeper, which takes 8 s
PHRASES_PER_QUERY = 50
IDS_PER_PAGE = 10_000
ACTIVE_POLLS, ACTIVE_POLL_SECONDS = 120, 0.25  # how often, and after how many seconds, a new collection is looked at
RETRYABLE_STATUSES = (429, 502, 503, 504)
MAX_ERROR_CHARS = 400
ALIAS_PROPAGATION_SECONDS = (
    2.0  # until every node knows where an alias points, and has answered what it was asked before
)
SCHEMA_FILE = "schema.xml"
OWNER_PROPERTY = "plumbline.store"  # the property of the alias that holds the id of the store
SERVER_ERROR_HINT = "; see Solr's log, and that its disk has room, then run the same command again"

_ID_AND_CLUSTER = f"{solr_fields.ID},{solr_fields.CLUSTER_ID}"
_HTTP_STATUS_RE = re.compile(r"\(HTTP (\d{3})\)")


class _SolrJsonEncoder(json.JSONEncoder):
    """Chinese as it stands, which is half as long as escaped; a lone surrogate, which nothing can carry, as `?`."""

    def encode(self, o: object) -> str:
        return super().encode(o).encode("utf-8", "replace").decode()


class CommitWithin(IntEnum):
    """By when Solr shows what it was sent: milliseconds. Of many documents each showing costs a segment of its own, to
    be merged later: a third of the work of filling an index."""

    SOON = 500
    LATER = 10_000


class ConfigsetState(StrEnum):
    """From which configset the collection behind the alias was made."""

    CURRENT = "current"
    OUTDATED = "outdated"


class SolrIndex:
    """One collection of one Solr, or of several nodes (`base_url` with commas), any of which may go. `timeout`: seconds
    a request may take; `shards`, `replicas`: of a collection that is made.

    Every method raises `SolrUnavailableError` when Solr does not answer, also after some seconds of further tries,
    and `SolrError` when it refuses. `add` and `delete` may be called from several threads, the rest from one at a time.
    """

    def __init__(
        self,
        base_url: str,
        collection: str,
        timeout: float,
        sleep: Callable[[float], None] = time.sleep,
        shards: int = 1,
        replicas: int = 1,
    ) -> None:
        self.collection = collection
        self.base_url = base_url.rstrip("/")
        self._shards, self._replicas = shards, replicas
        self._timeout = timeout
        self._sleep = sleep
        self._session = SolrSession(self.base_url, timeout)
        self._solr = pysolr.Solr(
            f"{node_urls(self.base_url)[0]}/{collection}",
            timeout=timeout,
            session=self._session,
            encoder=_SolrJsonEncoder(ensure_ascii=False),
        )
        logging.getLogger("pysolr").setLevel(logging.CRITICAL)  # what it would log is in the errors raised here

    # -- documents

    def add(
        self, docs: Sequence[Mapping[str, object]], commit_within: CommitWithin = CommitWithin.SOON
    ) -> dict[str, str]:
        """Write documents; on return a killed Solr does not lose them. Returns id -> why, for those that it refuses.

        Solr says of a batch only that something in it is wrong; then each document is sent alone.
        """
        try:
            self._delete_from_old_clusters(docs)
            self._with_retries(
                lambda: self._solr.add([dict(doc) for doc in docs], commitWithin=str(commit_within.value))
            )
        except _SolrRejectedError as err:
            if err.status != requests.codes.bad_request:
                raise
            if len(docs) == 1:
                return {str(docs[0].get(solr_fields.ID, "")): str(err)}
            return {doc_id: reason for doc in docs for doc_id, reason in self.add([doc], commit_within).items()}
        return {}

    def _delete_from_old_clusters(self, docs: Sequence[Mapping[str, object]]) -> None:
        """Delete documents where they stand under another cluster: what is added now may stand on another shard."""
        if self._shards > 1:
            cluster_by_id = self._fetch_clusters([str(doc[solr_fields.ID]) for doc in docs if solr_fields.ID in doc])
            self.delete(
                [doc_id for doc_id, cluster in cluster_by_id.items() if cluster not in _clusters_for(docs, doc_id)]
            )

    def _fetch_clusters(self, ids: Sequence[str]) -> dict[str, str]:
        """The clusters under which documents stand in the index, committed or not."""
        form = [("ids", ",".join(ids)), ("fl", _ID_AND_CLUSTER)]
        response = self._with_retries(lambda: self._session.post_form_json(f"{self.collection}/get", form))
        return {doc[solr_fields.ID]: doc.get(solr_fields.CLUSTER_ID, "") for doc in response["response"]["docs"]}

    def delete(self, ids: Sequence[str]) -> None:
        """Delete documents; an id that is not there is no error."""
        if ids:
            self._with_retries(lambda: self._solr.delete(id=list(ids)))

    def commit(self, soft: bool = True) -> None:
        """Make all that was written searchable. `soft=False` also closes Solr's log of updates."""
        kind = "softCommit" if soft else "commit"
        self._request(f"{self.collection}/update", {kind: "true", "waitSearcher": "true"})

    def optimize(self) -> None:
        """Make one segment of the index, without deleted documents and in the order of ids.

        Until then what was deleted or written again still counts in the statistics that scores are made of, and of two
        equal documents the one that came first is the first.
        """
        self._request(f"{self.collection}/update", {"optimize": "true", "maxSegments": "1", "waitSearcher": "true"})

    def count(self) -> int:
        """Documents that a search can find now."""
        return int(self.search({"q": "*:*", "rows": 0})["response"]["numFound"])

    def get(self, doc_id: str) -> dict[str, Any] | None:
        """The stored fields of a document, committed or not."""
        document: dict[str, Any] | None = self.search({"id": doc_id}, handler="get")["doc"]
        return document

    def search(self, params: Mapping[str, object], handler: str = "select") -> dict[str, Any]:
        """Solr's whole answer to `params` from its request handler `handler`."""
        other_params = {name: value for name, value in params.items() if name != "q"}
        results = self._with_retries(
            lambda: self._solr.search(params.get("q", ""), search_handler=handler, **other_params)
        )
        response: dict[str, Any] = results.raw_response
        return response

    def iter_ids_containing(
        self, phrases: Sequence[str], query_fields: Sequence[str] = (solr_fields.TITLE_CHARS, solr_fields.BODY_CHARS)
    ) -> Iterator[str]:
        """The ids of documents whose title or body holds one of `phrases` as a run of characters, each id once.

        Sees everything that was written before. Runs of Chinese characters are found wherever they stand: a few ids
        too many may come, as punctuation counts for nothing, and a text with a sign glued to a Chinese character is
        always among them. What is Latin is found only where Solr makes the same tokens of it in the text, which hangs
        on the signs beside it (`indexer.affected_articles`).
        """
        self.commit(soft=True)
        yielded_ids: set[str] = set()
        for batch in batched(phrases, PHRASES_PER_QUERY):
            for doc_id in self._iter_ids(f"{any_phrase_query(batch, query_fields)} {odd_token_query(query_fields)}"):
                if doc_id not in yielded_ids:
                    yielded_ids.add(doc_id)
                    yield doc_id

    def iter_ids(self) -> Iterator[str]:
        """The ids of all documents that a search can find now."""
        return self._iter_ids("*:*")

    def _iter_ids(self, query: str) -> Iterator[str]:
        cursor, next_cursor = "", "*"
        while cursor != next_cursor:
            cursor = next_cursor
            response = self.search(
                {
                    "q": query,
                    "fl": solr_fields.ID,
                    "sort": f"{solr_fields.ID} asc",
                    "rows": IDS_PER_PAGE,
                    "cursorMark": cursor,
                }
            )
            yield from (doc[solr_fields.ID] for doc in response["response"]["docs"])
            next_cursor = response["nextCursorMark"]

    # -- collections

    @property
    def current_collection(self) -> str:
        """Name of the collection that belongs to the configset as it is now."""
        return f"{self.collection}_{configset_digest(CONFIGSET_DIR, self._shards)[:8]}"

    def ensure_collection(self) -> ConfigsetState:
        """Promise that the current configset's collection exists and that the alias points somewhere.

        A new alias points to that collection at once. One that points to a collection of an earlier configset stays,
        and that collection understands today's questions. May be called at any time, and again after it was killed
        anywhere.
        """
        cluster_state = self._fetch_cluster_state()
        if self.collection in cluster_state["collections"]:
            raise SolrError(
                f"Solr already has a collection named {self.collection}, which is not ours: "
                "set index.collection to another name"
            )
        target = cluster_state.get("aliases", {}).get(self.collection)
        if self.current_collection not in cluster_state["collections"]:
            self._create_collection()
        elif self.current_collection != target and not self._wait_until_active():  # what a killed creation left
            self._delete_collection(self.current_collection)
            self._create_collection()
        if target is None:
            self._set_alias()
        if target in (None, self.current_collection):
            return ConfigsetState.CURRENT
        self._add_missing_fields(target)
        return ConfigsetState.OUTDATED

    def open_current_collection(self) -> "SolrIndex":
        """The current configset's collection itself, to be filled while the alias still points to the old one."""
        return SolrIndex(
            self.base_url, self.current_collection, self._timeout, self._sleep, self._shards, self._replicas
        )

    def switch_alias(self) -> None:
        """Let searches have the current configset's collection; the one they had until now is deleted."""
        old_collection = self._fetch_cluster_state().get("aliases", {}).get(self.collection)
        self._set_alias()
        if old_collection not in (None, self.current_collection):
            if len(node_urls(self.base_url)) > 1:
                self._sleep(ALIAS_PROPAGATION_SECONDS)  # the other nodes hear of it a moment later
            self._delete_collection(old_collection)

    def get_owner(self) -> str:
        """The id of the store that the alias's documents come from; "" where none was ever said."""
        properties = self._collections_api("LISTALIASES").get("properties", {})
        return str(properties.get(self.collection, {}).get(OWNER_PROPERTY, ""))

    def set_owner(self, store_id: str) -> None:
        """Say that the documents behind the alias come from this store. It holds for collections that follow."""
        self._collections_api("ALIASPROP", name=self.collection, **{f"property.{OWNER_PROPERTY}": store_id})

    def delete_all(self) -> None:
        """Delete the alias, and with it every collection that was made for it."""
        cluster_state = self._fetch_cluster_state()
        if self.collection in cluster_state.get("aliases", {}):
            self._collections_api("DELETEALIAS", name=self.collection)
        for name in cluster_state["collections"]:
            if re.fullmatch(re.escape(self.collection) + "_[0-9a-f]{8}", name):
                self._delete_collection(name)

    def _create_collection(self) -> None:
        files = configset_zip(CONFIGSET_DIR, self._shards)
        size_params = {"numShards": str(self._shards), "replicationFactor": str(self._replicas)}
        routing_params = {"router.field": solr_fields.CLUSTER_ID} if self._shards > 1 else {}
        self._request(
            "admin/configs", {"action": "UPLOAD", "name": self.current_collection, "overwrite": "true"}, files
        )
        try:
            self._collections_api(
                "CREATE",
                name=self.current_collection,
                **{"collection.configName": self.current_collection},
                **size_params,
                **routing_params,
            )
        except SolrError:
            if (
                self.current_collection not in self._fetch_cluster_state()["collections"]
            ):  # else another process was faster
                raise
        if not self._wait_until_active():
            raise SolrUnavailableError(
                f"Solr's new collection {self.current_collection} does not become active: see Solr's log"
            )

    def _add_missing_fields(self, collection: str) -> None:
        """Give the collection `collection` the fields that it lacks. Where Solr does not take them it stays as it was."""
        old_schema = self._fetch_schema(collection)
        schema = add_missing_fields(old_schema, (CONFIGSET_DIR / SCHEMA_FILE).read_text("utf-8"))
        if schema == old_schema:
            return
        self._upload_schema(collection, schema)
        try:
            self._collections_api("RELOAD", name=collection)
        except SolrError:
            _log.warning("%s does not take the fields of this version; it is searched again once filled", collection)
            self._upload_schema(collection, old_schema)

    def _fetch_schema(self, collection: str) -> str:
        params = {"file": SCHEMA_FILE, "contentType": "text/xml"}
        return self._with_retries(lambda: self._session.fetch(f"{collection}/admin/file", params)).content.decode()

    def _upload_schema(self, configset: str, schema: str) -> None:
        params = {"action": "UPLOAD", "name": configset, "filePath": SCHEMA_FILE, "overwrite": "true"}
        self._request("admin/configs", params, schema.encode())

    def _wait_until_active(self) -> bool:
        for _ in range(ACTIVE_POLLS):
            collection_state = self._fetch_cluster_state()["collections"].get(self.current_collection, {})
            replicas = collection_replicas({"shards": {}, **collection_state})
            if replicas and all(replica["state"] == "active" for replica in replicas):
                return True
            self._sleep(ACTIVE_POLL_SECONDS)
        return False

    def _delete_collection(self, collection: str) -> None:
        self._collections_api("DELETE", name=collection)
        self._request("admin/configs", {"action": "DELETE", "name": collection})

    def _set_alias(self) -> None:
        self._collections_api("CREATEALIAS", name=self.collection, collections=self.current_collection)

    def _fetch_cluster_state(self) -> dict[str, Any]:
        return self._with_retries(self._session.cluster_status)

    def _collections_api(self, action: str, **params: str) -> dict[str, Any]:
        return self._request("admin/collections", {"action": action, **params})

    # -- asking

    def _request(self, path: str, params: Mapping[str, str], body: bytes | None = None) -> dict[str, Any]:
        """An answer from an address that pysolr does not know."""
        return self._with_retries(lambda: self._session.request_json(path, params, body))

    def _with_retries(self, operation: Callable[[], T]) -> T:
        """The value of `operation`, tried again with growing pauses while Solr does not answer; of several nodes also while
        those that live do not know yet that another has gone."""
        has_several_nodes = len(node_urls(self.base_url)) > 1
        for pause in (*RETRY_PAUSES_SECONDS, *(FAILOVER_PAUSES_SECONDS if has_several_nodes else ()), None):
            try:
                return operation()
            except (pysolr.SolrError, requests.RequestException) as err:
                text = " ".join(str(err).split())[:MAX_ERROR_CHARS]
                match = _HTTP_STATUS_RE.search(text)
                status = int(match[1]) if match else 0
                is_server_error = status >= requests.codes.server_error
                if (
                    status
                    and status not in RETRYABLE_STATUSES
                    and not (has_several_nodes and is_server_error and pause is not None)
                ):
                    raise _SolrRejectedError(
                        f"Solr refused: {text}{SERVER_ERROR_HINT if is_server_error else ''}", status
                    ) from err
                if pause is None:
                    raise SolrUnavailableError(
                        f"Solr does not answer at {redact_credentials(self.base_url)}: see that it runs (an embedded one "
                        f"is started by itself), then run the same command again; what it has acknowledged is kept "
                        f"({text})"
                    ) from err
                self._sleep(pause)
        raise AssertionError("the last pause is None")


class _SolrRejectedError(SolrError):
    """Solr answered, and with an error. `status` is the HTTP status."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


def _clusters_for(docs: Sequence[Mapping[str, object]], doc_id: str) -> list[object]:
    return [doc.get(solr_fields.CLUSTER_ID, "") for doc in docs if doc.get(solr_fields.ID) == doc_id]


def any_phrase_query(phrases: Sequence[str], query_fields: Sequence[str]) -> str:
    """A query for any of `phrases` in any field of `query_fields`. Inside quotation marks only two signs have a meaning.

    >>> phrase_query(["CO2驱"], ["title_chars", "body_chars"])
    'title_chars:"CO2驱" body_chars:"CO2驱"'
    """
    quoted_phrases = ['"' + phrase.replace("\\", "\\\\").replace('"', '\\"') + '"' for phrase in phrases]
    return " ".join(f"{field}:{phrase}" for phrase in quoted_phrases for field in query_fields)


def odd_token_query(query_fields: Sequence[str]) -> str:
    """A query for texts in which a Chinese character is no token of its own, as a soft hyphen, a variation selector or
    an accent stands behind it. There are few.

    >>> odd_query(["body_chars"])
    'body_chars:/[一-鿿].+/'
    """
    return " ".join(f"{field}:/[\u4e00-\u9fff].+/" for field in query_fields)
