"""Client of the Solr index: documents and searches with pysolr, collections and configsets with `SolrSession`.

    index = SolrIndex(url, "plumbline", timeout=30)
    if index.ensure_collection() is ConfigsetState.OUTDATED:   # the configset changed; searches use the old collection
        new_index = index.open_current_collection()            # the new, empty collection: write everything to it ...
        index.switch_alias()                                   # ... then use it for searches
    index.delete_unused_collections()                          # in the next run, when no search uses the old collection
    rejected = index.add(documents, CommitWithin.SOON)         # durable on return, searchable within 500 ms

Searches use the alias `collection`. It points to `<collection>_<digest>`, created from the configset with that digest.
A changed schema therefore never meets an old index; nor does a changed number of shards, which is part of the
configset.

With several shards, each shard contains whole clusters (`router.field`), so that duplicates are collapsed and counted
on one shard. If the cluster of a document changes, the document is deleted from its old shard before it is added.
"""

import json
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import IntEnum, StrEnum
from typing import Any, TypeVar

import pysolr
import requests

from domain.batches import batched
from domain.errors import MISSING_COLLECTION_MESSAGE, SolrError, SolrUnavailableError
from domain.message import error_message
from indexer.configset import add_missing_fields, configset_digest, configset_files, configset_zip
from locks.fences import check_request
from solr_client import solr_fields
from solr_client.session import SolrSession, collection_replicas, node_urls, redact_credentials
from solr_conf import CONFIGSET_DIR

_log = logging.getLogger(__name__)

T = TypeVar("T")

RETRY_PAUSES_SECONDS = (0.2, 0.5, 1.0, 2.0, 4.0)  # pauses before retries while Solr is not responding
# The leadership of a dead node ends with its ZooKeeper session, after 8 s.
FAILOVER_PAUSES_SECONDS = (4.0, 4.0, 4.0, 4.0)
PHRASES_PER_QUERY = 50
IDS_PER_PAGE = 10_000
ACTIVE_POLLS, ACTIVE_POLL_SECONDS = 120, 0.25  # polling of a new collection
RETRYABLE_STATUSES = (429, 502, 503, 504)
MAX_ERROR_CHARS = 400
SCHEMA_FILE = "schema.xml"
OWNER_PROPERTY = "plumbline.store"  # property of the alias with the id of the store
SERVER_ERROR_HINT = "; check Solr's log and its free disk space, then run the same command again"

_ID_AND_CLUSTER = f"{solr_fields.ID},{solr_fields.CLUSTER_ID}"


class CommitWithin(IntEnum):
    """Solr's commitWithin in milliseconds: latest time until a change is searchable.

    LATER avoids one small segment per commit while an index is filled, which saves a third of the work.
    """

    SOON = 500
    LATER = 10_000


class ConfigsetState(StrEnum):
    """Whether the collection of the alias was created from the current configset."""

    CURRENT = "current"
    OUTDATED = "outdated"


class SolrIndex:
    """One collection of a Solr.

    `add` and `delete` are thread-safe. The other methods must not run concurrently.

    Args:
        base_url: Base URL, or several node URLs separated by commas; any of the nodes may go down.
        collection: Name of the alias.
        timeout: Maximum seconds for one request.
        sleep: Waits between retries; replaceable for tests.
        shards, replicas: Number of shards and replicas of new collections.

    The methods that change documents, the alias or collections also raise LeaseLostError if the index stage has lost
    its lease.

    Raises (every method):
        SolrUnavailableError: Solr is not responding, after retries for some seconds.
        SolrError: Solr rejected the request.
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
            encoder=json.JSONEncoder(ensure_ascii=False),  # escapes would double the size of Chinese
        )
        logging.getLogger("pysolr").setLevel(logging.CRITICAL)  # its log lines repeat the errors raised here

    # -- documents

    def add(
        self, docs: Sequence[Mapping[str, object]], commit_within: CommitWithin = CommitWithin.SOON
    ) -> dict[str, str]:
        """Write documents; on return they survive a crash of Solr. Returns rejected documents as id -> reason.

        Solr rejects a whole batch without naming the document, so the documents of a rejected batch are sent one by
        one.
        """
        try:
            self._delete_from_old_clusters(docs)
            check_request()
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
        """Delete documents that are indexed under another cluster, because they may be on another shard."""
        if self._shards > 1:
            new_clusters = {(doc.get(solr_fields.ID), doc.get(solr_fields.CLUSTER_ID, "")) for doc in docs}
            form = [
                ("ids", ",".join([str(doc[solr_fields.ID]) for doc in docs if solr_fields.ID in doc])),
                ("fl", _ID_AND_CLUSTER),
            ]
            response = self._with_retries(lambda: self._session.post_form_json(f"{self.collection}/get", form))
            cluster_by_id = {
                doc[solr_fields.ID]: doc.get(solr_fields.CLUSTER_ID, "") for doc in response["response"]["docs"]
            }
            self.delete([doc_id for doc_id, cluster in cluster_by_id.items() if (doc_id, cluster) not in new_clusters])

    def delete(self, ids: Sequence[str]) -> None:
        """Delete documents; unknown ids are ignored."""
        if ids:
            check_request()
            self._with_retries(lambda: self._solr.delete(id=list(ids)))

    def commit(self, soft: bool = True) -> None:
        """Make all written documents searchable. `soft=False` also closes the update log of Solr."""
        kind = "softCommit" if soft else "commit"
        self._request(f"{self.collection}/update", {kind: "true", "waitSearcher": "true"})

    def optimize(self) -> None:
        """Merge the index to one segment, without deleted documents and in order of ids.

        Until then, deleted and replaced documents count in the statistics of scores, and documents with equal scores
        are ranked by the time they were added.
        """
        self._request(f"{self.collection}/update", {"optimize": "true", "maxSegments": "1", "waitSearcher": "true"})

    def count(self) -> int:
        """Return the number of searchable documents."""
        return int(self.search({"q": "*:*", "rows": 0})["response"]["numFound"])

    def get(self, doc_id: str) -> dict[str, Any] | None:
        """Return the stored fields of a document, committed or not; None if it or the collection does not exist."""
        try:
            document: dict[str, Any] | None = self.search({"id": doc_id}, handler="get")["doc"]
        except _SolrRejectedError as error:
            if error.status != requests.codes.not_found:
                raise
            return None
        return document

    def search(self, params: Mapping[str, object], handler: str = "select") -> dict[str, Any]:
        """Return the complete JSON response of the request handler `handler` to `params`."""
        other_params = {name: value for name, value in params.items() if name != "q"}
        results = self._with_retries(
            lambda: self._solr.search(params.get("q", ""), search_handler=handler, **other_params)
        )
        response: dict[str, Any] = results.raw_response
        return response

    def iter_ids_containing(self, phrases: Sequence[str]) -> Iterator[str]:
        """Yield the ids of documents whose title or body contains one of `phrases`. Each id is yielded once.

        Commits first, so that all written documents are found. Other documents may be yielded too: Solr ignores
        punctuation.
        """
        self.commit(soft=True)
        yielded_ids: set[str] = set()
        for batch in batched(phrases, PHRASES_PER_QUERY):
            query = any_phrase_query(batch, (solr_fields.TITLE_CHARS, solr_fields.BODY_CHARS))
            new_ids = set(self._iter_ids(query)) - yielded_ids
            yield from sorted(new_ids)
            yielded_ids |= new_ids

    def iter_ids(self) -> Iterator[str]:
        """Yield the ids of all searchable documents."""
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
        """Name of the collection for the current configset."""
        return current_collection(self.collection, self._shards)

    def has_collection(self) -> bool:
        """True if the alias and its collection exist, so that documents can be searched and written."""
        cluster_state = self._fetch_cluster_state()
        return cluster_state.get("aliases", {}).get(self.collection) in cluster_state["collections"]

    def ensure_collection(self) -> ConfigsetState:
        """Create the collection of the current configset and the alias, if they are missing.

        Idempotent, also after a kill. A new alias points to the current collection. An existing alias that points to
        the collection of an earlier configset stays unchanged. The missing fields are added to that collection first,
        so that current queries work on it.
        """
        cluster_state = self._fetch_cluster_state()
        if self.collection in cluster_state["collections"]:
            raise SolrError(
                "Solr already has a collection named {name}, which Plumbline did not create: set "
                "index.collection to another name",
                name=self.collection,
            )
        target = cluster_state.get("aliases", {}).get(self.collection)
        is_outdated = self.add_missing_fields()
        if self.current_collection not in cluster_state["collections"]:
            self._create_collection()
        elif (
            self.current_collection != target and not self._wait_until_active()
        ):  # remains of a creation that was killed
            self._delete_collection(self.current_collection)
            self._create_collection()
        if target is None:
            self._set_alias()
        return ConfigsetState.OUTDATED if is_outdated else ConfigsetState.CURRENT

    def add_missing_fields(self) -> bool:
        """Add the fields of this version to the collection of the alias, if an earlier version created it.

        Returns True if the collection is that of an earlier version. Idempotent; several processes may call it.
        """
        target = self._fetch_cluster_state().get("aliases", {}).get(self.collection)
        if target in (None, self.current_collection):
            return False
        self._add_missing_fields(target)
        return True

    def open_current_collection(self) -> "SolrIndex":
        """Return the index of the current collection, to fill it while the alias still points to the old one."""
        return SolrIndex(
            self.base_url, self.current_collection, self._timeout, self._sleep, self._shards, self._replicas
        )

    def switch_alias(self) -> None:
        """Point the alias to the current collection.

        Requests may still use the collection it pointed to, so `delete_unused_collections` deletes it in a later run.
        """
        check_request()
        self._set_alias()

    def delete_unused_collections(self) -> None:
        """Delete the collections of earlier configsets that the alias no longer points to."""
        cluster_state = self._fetch_cluster_state()
        used_collections = (self.current_collection, cluster_state.get("aliases", {}).get(self.collection))
        for name in self._own_collections(cluster_state):
            if name not in used_collections:
                check_request()
                self._delete_collection(name)

    def get_owner(self) -> str:
        """Return the id of the store that filled the index, or an empty string if none is recorded."""
        properties = self._collections_api("LISTALIASES").get("properties", {})
        return str(properties.get(self.collection, {}).get(OWNER_PROPERTY, ""))

    def set_owner(self, store_id: str) -> None:
        """Record the store that fills the index, as a property of the alias; later collections keep it."""
        self._collections_api("ALIASPROP", name=self.collection, **{f"property.{OWNER_PROPERTY}": store_id})

    def delete_all(self) -> None:
        """Delete the alias and all collections created for it."""
        cluster_state = self._fetch_cluster_state()
        if self.collection in cluster_state.get("aliases", {}):
            self._collections_api("DELETEALIAS", name=self.collection)
        for name in self._own_collections(cluster_state):
            self._delete_collection(name)

    def _own_collections(self, cluster_state: Mapping[str, Any]) -> list[str]:
        """Return the names of all collections created for the alias."""
        return [name for name in cluster_state["collections"] if collection_pattern(self.collection).fullmatch(name)]

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
        except SolrError as error:
            # If it exists now, another process created it.
            if self.current_collection not in self._fetch_cluster_state()["collections"]:
                raise SolrError(
                    "{reason}; see Solr's log; your own Solr needs its module analysis-extras "
                    "(SOLR_MODULES=analysis-extras)",
                    reason=error_message(error),
                ) from error
        if not self._wait_until_active():
            raise SolrUnavailableError(
                "Solr's new collection {name} did not become active: see Solr's log, then run the same command again",
                name=self.current_collection,
            )

    def _add_missing_fields(self, collection: str) -> None:
        """Add the missing fields to a collection. If Solr rejects them, the old schema is restored."""
        params = {"file": SCHEMA_FILE, "contentType": "text/xml"}
        old_schema = self._with_retries(
            lambda: self._session.fetch(f"{collection}/admin/file", params)
        ).content.decode()
        schema = add_missing_fields(old_schema, (CONFIGSET_DIR / SCHEMA_FILE).read_text("utf-8"))
        if schema == old_schema:
            return
        for name, data in configset_files(CONFIGSET_DIR):
            with suppress(_SolrRejectedError):  # the old configset has this file
                self._upload_file(collection, name, data, overwrite=False)
        self._upload_file(collection, SCHEMA_FILE, schema.encode())
        try:
            is_rejected = "failure" in self._collections_api("RELOAD", name=collection)
        except SolrError:
            is_rejected = True
        if is_rejected:
            _log.warning(
                "collection %s rejected the new fields; searches that use them fail until the new collection is filled",
                collection,
            )
            self._upload_file(collection, SCHEMA_FILE, old_schema.encode())

    def _upload_file(self, configset: str, name: str, data: bytes, overwrite: bool = True) -> None:
        params = {"action": "UPLOAD", "name": configset, "filePath": name, "overwrite": str(overwrite).lower()}
        self._request("admin/configs", params, data)

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

    # -- requests

    def _request(self, path: str, params: Mapping[str, str], body: bytes | None = None) -> dict[str, Any]:
        """Send a request to a path that pysolr does not support; return its JSON response."""
        return self._with_retries(lambda: self._session.request_json(path, params, body))

    def _with_retries(self, operation: Callable[[], T]) -> T:
        """Return the value of `operation`. Retries with growing pauses while Solr is not responding.

        With several nodes, it also retries server errors, until the remaining nodes know that a node went down.
        """
        has_several_nodes = len(node_urls(self.base_url)) > 1
        for pause in (*RETRY_PAUSES_SECONDS, *(FAILOVER_PAUSES_SECONDS if has_several_nodes else ()), None):
            try:
                return operation()
            except (pysolr.SolrError, requests.RequestException) as err:
                text = " ".join(str(err).split())[:MAX_ERROR_CHARS]
                response: requests.Response | None = getattr(err, "response", None)
                status = 0 if response is None else response.status_code
                is_server_error = status >= requests.codes.server_error
                is_temporary = (has_several_nodes and is_server_error) or MISSING_COLLECTION_MESSAGE in text
                if status and status not in RETRYABLE_STATUSES and not (is_temporary and pause is not None):
                    raise _SolrRejectedError(
                        f"Solr refused: {text}{SERVER_ERROR_HINT if is_server_error else ''}", status
                    ) from err
                if pause is None:
                    address = redact_credentials(self.base_url)
                    raise SolrUnavailableError(
                        "Solr at {url} is not responding: check that it runs (the embedded Solr starts automatically), "
                        "then run again; acknowledged documents are saved ({detail})",
                        url=address,
                        detail=text,
                    ) from err
                self._sleep(pause)
        raise AssertionError("the last pause is None")


class _SolrRejectedError(SolrError):
    """Solr responded with an error. `status` is the HTTP status."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


def current_collection(alias: str, shards: int) -> str:
    """Return the name of the collection of `alias` for the current configset."""
    return f"{alias}_{configset_digest(CONFIGSET_DIR, shards)[:8]}"


def collection_pattern(alias: str) -> re.Pattern[str]:
    """Return a pattern of the names of all collections created for `alias`."""
    return re.compile(re.escape(alias) + "_[0-9a-f]{8}")


def any_phrase_query(phrases: Sequence[str], query_fields: Sequence[str]) -> str:
    """Return a query for any of `phrases` in any of `query_fields`. Only backslash and quotation mark need escapes.

    >>> any_phrase_query(["CO2驱"], ["title_chars", "body_chars"])
    'title_chars:"CO2驱" body_chars:"CO2驱"'
    """
    quoted_phrases = ['"' + phrase.replace("\\", "\\\\").replace('"', '\\"') + '"' for phrase in phrases]
    return " ".join(f"{field}:{phrase}" for phrase in quoted_phrases for field in query_fields)
