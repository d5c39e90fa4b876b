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

from docstore import fields
from docstore.batches import batched
from docstore.errors import SolrError, SolrUnavailableError
from docstore.solr_http import SolrSession, node_urls, replicas_of, shown_url
from indexer.configset import configset_digest, configset_zip
from indexer.older_schema import completed
from solr_conf import CONFIGSET

log = logging.getLogger(__name__)

T = TypeVar("T")

PAUSES = (0.2, 0.5, 1.0, 2.0, 4.0)  # seconds before each further try, while Solr does not answer
LATER_PAUSES = (4.0, 4.0, 4.0, 4.0)  # a dead node's leadership ends with its session in ZooKeeper, which takes 8 s
PHRASES_AT_ONCE = 50
IDS_AT_ONCE = 10_000
ACTIVE_TRIES, ACTIVE_PAUSE = 120, 0.25  # how often, and after how many seconds, a new collection is looked at
ASK_AGAIN = (429, 502, 503, 504)
LONGEST_ERROR = 400
ALIAS_SECONDS = 2.0  # until every node knows where an alias points, and has answered what it was asked before
SCHEMA = "schema.xml"
OWNER = "plumbline.store"  # the property of the alias that holds the id of the store
OWN_FAULT = "; see Solr's log, and that its disk has room, then run the same command again"

_PLACE = f"{fields.ID},{fields.CLUSTER}"
_STATUS = re.compile(r"\(HTTP (\d{3})\)")


class _Encoder(json.JSONEncoder):
    """Chinese as it stands, which is half as long as escaped; a lone surrogate, which nothing can carry, as `?`."""

    def encode(self, o: object) -> str:
        return super().encode(o).encode("utf-8", "replace").decode()


class Seen(IntEnum):
    """By when Solr shows what it was sent: milliseconds. Of many documents each showing costs a segment of its own, to
    be merged later: a third of the work of filling an index."""

    SOON = 500
    LATER = 10_000


class Built(StrEnum):
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
            encoder=_Encoder(ensure_ascii=False),
        )
        logging.getLogger("pysolr").setLevel(logging.CRITICAL)  # what it would log is in the errors raised here

    # -- documents

    def add(self, docs: Sequence[Mapping[str, object]], seen: Seen = Seen.SOON) -> dict[str, str]:
        """Write documents; on return a killed Solr does not lose them. Returns id -> why, for those that it refuses.

        Solr says of a batch only that something in it is wrong; then each document is sent alone.
        """
        try:
            self._leave(docs)
            self._try(lambda: self._solr.add([dict(doc) for doc in docs], commitWithin=str(seen.value)))
        except _RefusedError as err:
            if err.status != requests.codes.bad_request:
                raise
            if len(docs) == 1:
                return {str(docs[0].get(fields.ID, "")): str(err)}
            return {doc_id: why for doc in docs for doc_id, why in self.add([doc], seen).items()}
        return {}

    def _leave(self, docs: Sequence[Mapping[str, object]]) -> None:
        """Delete documents where they stand under another cluster: what is added now may stand on another shard."""
        if self._shards > 1:
            placed = self._clusters_of([str(doc[fields.ID]) for doc in docs if fields.ID in doc])
            self.delete([doc_id for doc_id, cluster in placed.items() if cluster not in _clusters_in(docs, doc_id)])

    def _clusters_of(self, ids: Sequence[str]) -> dict[str, str]:
        """The clusters under which documents stand in the index, committed or not."""
        asked = [("ids", ",".join(ids)), ("fl", _PLACE)]
        found = self._try(lambda: self._session.post_form(f"{self.collection}/get", asked))
        return {doc[fields.ID]: doc.get(fields.CLUSTER, "") for doc in found["response"]["docs"]}

    def delete(self, ids: Sequence[str]) -> None:
        """Delete documents; an id that is not there is no error."""
        if ids:
            self._try(lambda: self._solr.delete(id=list(ids)))

    def commit(self, soft: bool = True) -> None:
        """Make all that was written searchable. `soft=False` also closes Solr's log of updates."""
        kind = "softCommit" if soft else "commit"
        self._ask(f"{self.collection}/update", {kind: "true", "waitSearcher": "true"})

    def merge(self) -> None:
        """Make one segment of the index, without deleted documents and in the order of ids.

        Until then what was deleted or written again still counts in the statistics that scores are made of, and of two
        equal documents the one that came first is the first.
        """
        self._ask(f"{self.collection}/update", {"optimize": "true", "maxSegments": "1", "waitSearcher": "true"})

    def count(self) -> int:
        """Documents that a search can find now."""
        return int(self.search({"q": "*:*", "rows": 0})["response"]["numFound"])

    def get(self, doc_id: str) -> dict[str, Any] | None:
        """The stored fields of a document, committed or not."""
        found: dict[str, Any] | None = self.search({"id": doc_id}, at="get")["doc"]
        return found

    def search(self, params: Mapping[str, object], at: str = "select") -> dict[str, Any]:
        """Solr's whole answer to `params` from its request handler `at`."""
        rest = {name: value for name, value in params.items() if name != "q"}
        results = self._try(lambda: self._solr.search(params.get("q", ""), search_handler=at, **rest))
        answer: dict[str, Any] = results.raw_response
        return answer

    def ids_containing(
        self, phrases: Sequence[str], within: Sequence[str] = (fields.TITLE_CHARS, fields.BODY_CHARS)
    ) -> Iterator[str]:
        """The ids of documents whose title or body holds one of `phrases` as a run of characters, each id once.

        Sees everything that was written before. Runs of Chinese characters are found wherever they stand: a few ids
        too many may come, as punctuation counts for nothing, and a text with a sign glued to a Chinese character is
        always among them. What is Latin is found only where Solr makes the same tokens of it in the text, which hangs
        on the signs beside it (`indexer.containing`).
        """
        self.commit(soft=True)
        seen: set[str] = set()
        for batch in batched(phrases, PHRASES_AT_ONCE):
            for doc_id in self._ids(f"{phrase_query(batch, within)} {odd_query(within)}"):
                if doc_id not in seen:
                    seen.add(doc_id)
                    yield doc_id

    def ids(self) -> Iterator[str]:
        """The ids of all documents that a search can find now."""
        return self._ids("*:*")

    def _ids(self, query: str) -> Iterator[str]:
        cursor, following = "", "*"
        while cursor != following:
            cursor = following
            answer = self.search(
                {"q": query, "fl": fields.ID, "sort": f"{fields.ID} asc", "rows": IDS_AT_ONCE, "cursorMark": cursor}
            )
            yield from (doc[fields.ID] for doc in answer["response"]["docs"])
            following = answer["nextCursorMark"]

    # -- collections

    @property
    def current(self) -> str:
        """Name of the collection that belongs to the configset as it is now."""
        return f"{self.collection}_{configset_digest(CONFIGSET, self._shards)[:8]}"

    def ensure(self) -> Built:
        """Promise that the current configset's collection exists and that the alias points somewhere.

        A new alias points to that collection at once. One that points to a collection of an earlier configset stays,
        and that collection understands today's questions. May be called at any time, and again after it was killed
        anywhere.
        """
        cluster = self._cluster()
        if self.collection in cluster["collections"]:
            raise SolrError(
                f"Solr already has a collection named {self.collection}, which is not ours: "
                "set index.collection to another name"
            )
        target = cluster.get("aliases", {}).get(self.collection)
        if self.current not in cluster["collections"]:
            self._create()
        elif self.current != target and not self._becomes_active():  # what a killed creation left
            self._drop(self.current)
            self._create()
        if target is None:
            self._point_alias()
        if target in (None, self.current):
            return Built.CURRENT
        self._complete(target)
        return Built.OUTDATED

    def successor(self) -> "SolrIndex":
        """The current configset's collection itself, to be filled while the alias still points to the old one."""
        return SolrIndex(self.base_url, self.current, self._timeout, self._sleep, self._shards, self._replicas)

    def switch_alias(self) -> None:
        """Let searches have the current configset's collection; the one they had until now is deleted."""
        old = self._cluster().get("aliases", {}).get(self.collection)
        self._point_alias()
        if old not in (None, self.current):
            if len(node_urls(self.base_url)) > 1:
                self._sleep(ALIAS_SECONDS)  # the other nodes hear of it a moment later
            self._drop(old)

    def owner(self) -> str:
        """The id of the store that the alias's documents come from; "" where none was ever said."""
        properties = self._collections("LISTALIASES").get("properties", {})
        return str(properties.get(self.collection, {}).get(OWNER, ""))

    def claim(self, store_id: str) -> None:
        """Say that the documents behind the alias come from this store. It holds for collections that follow."""
        self._collections("ALIASPROP", name=self.collection, **{f"property.{OWNER}": store_id})

    def drop(self) -> None:
        """Delete the alias, and with it every collection that was made for it."""
        cluster = self._cluster()
        if self.collection in cluster.get("aliases", {}):
            self._collections("DELETEALIAS", name=self.collection)
        for name in cluster["collections"]:
            if re.fullmatch(re.escape(self.collection) + "_[0-9a-f]{8}", name):
                self._drop(name)

    def _create(self) -> None:
        files = configset_zip(CONFIGSET, self._shards)
        made = {"numShards": str(self._shards), "replicationFactor": str(self._replicas)}
        routed = {"router.field": fields.CLUSTER} if self._shards > 1 else {}
        self._ask("admin/configs", {"action": "UPLOAD", "name": self.current, "overwrite": "true"}, files)
        try:
            self._collections("CREATE", name=self.current, **{"collection.configName": self.current}, **made, **routed)
        except SolrError:
            if self.current not in self._cluster()["collections"]:  # else another process was faster
                raise
        if not self._becomes_active():
            raise SolrUnavailableError(f"Solr's new collection {self.current} does not become active: see Solr's log")

    def _complete(self, older: str) -> None:
        """Give the collection `older` the fields that it lacks. Where Solr does not take them it stays as it was."""
        before = self._schema_of(older)
        schema = completed(before, (CONFIGSET / SCHEMA).read_text("utf-8"))
        if schema == before:
            return
        self._put_schema(older, schema)
        try:
            self._collections("RELOAD", name=older)
        except SolrError:
            log.warning("%s does not take the fields of this version; it is searched again once filled", older)
            self._put_schema(older, before)

    def _schema_of(self, collection: str) -> str:
        asked = {"file": SCHEMA, "contentType": "text/xml"}
        return self._try(lambda: self._session.fetch(f"{collection}/admin/file", asked)).content.decode()

    def _put_schema(self, configset: str, schema: str) -> None:
        put = {"action": "UPLOAD", "name": configset, "filePath": SCHEMA, "overwrite": "true"}
        self._ask("admin/configs", put, schema.encode())

    def _becomes_active(self) -> bool:
        for _ in range(ACTIVE_TRIES):
            known = self._cluster()["collections"].get(self.current, {})
            replicas = replicas_of({"shards": {}, **known})
            if replicas and all(replica["state"] == "active" for replica in replicas):
                return True
            self._sleep(ACTIVE_PAUSE)
        return False

    def _drop(self, collection: str) -> None:
        self._collections("DELETE", name=collection)
        self._ask("admin/configs", {"action": "DELETE", "name": collection})

    def _point_alias(self) -> None:
        self._collections("CREATEALIAS", name=self.collection, collections=self.current)

    def _cluster(self) -> dict[str, Any]:
        return self._try(self._session.cluster)

    def _collections(self, action: str, **params: str) -> dict[str, Any]:
        return self._ask("admin/collections", {"action": action, **params})

    # -- asking

    def _ask(self, path: str, params: Mapping[str, str], body: bytes | None = None) -> dict[str, Any]:
        """An answer from an address that pysolr does not know."""
        return self._try(lambda: self._session.ask(path, params, body))

    def _try(self, call: Callable[[], T]) -> T:
        """The value of `call`, tried again with growing pauses while Solr does not answer; of several nodes also while
        those that live do not know yet that another has gone."""
        several = len(node_urls(self.base_url)) > 1
        for pause in (*PAUSES, *(LATER_PAUSES if several else ()), None):
            try:
                return call()
            except (pysolr.SolrError, requests.RequestException) as err:
                text = " ".join(str(err).split())[:LONGEST_ERROR]
                found = _STATUS.search(text)
                status = int(found[1]) if found else 0
                is_own = status >= requests.codes.server_error
                if status and status not in ASK_AGAIN and not (several and is_own and pause is not None):
                    raise _RefusedError(f"Solr refused: {text}{OWN_FAULT if is_own else ''}", status) from err
                if pause is None:
                    raise SolrUnavailableError(
                        f"Solr does not answer at {shown_url(self.base_url)}: see that it runs (an embedded one "
                        f"is started by itself), then run the same command again; what it has acknowledged is kept "
                        f"({text})"
                    ) from err
                self._sleep(pause)
        raise AssertionError("the last pause is None")


class _RefusedError(SolrError):
    """Solr answered, and with an error. `status` is the HTTP status."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


def _clusters_in(docs: Sequence[Mapping[str, object]], doc_id: str) -> list[object]:
    return [doc.get(fields.CLUSTER, "") for doc in docs if doc.get(fields.ID) == doc_id]


def phrase_query(phrases: Sequence[str], within: Sequence[str]) -> str:
    """A query for any of `phrases` in any field of `within`. Inside quotation marks only two signs have a meaning.

    >>> phrase_query(["CO2驱"], ["title_chars", "body_chars"])
    'title_chars:"CO2驱" body_chars:"CO2驱"'
    """
    quoted = ['"' + phrase.replace("\\", "\\\\").replace('"', '\\"') + '"' for phrase in phrases]
    return " ".join(f"{field}:{phrase}" for phrase in quoted for field in within)


def odd_query(within: Sequence[str]) -> str:
    """A query for texts in which a Chinese character is no token of its own, as a soft hyphen, a variation selector or
    an accent stands behind it. There are few.

    >>> odd_query(["body_chars"])
    'body_chars:/[一-鿿].+/'
    """
    return " ".join(f"{field}:/[\u4e00-\u9fff].+/" for field in within)
