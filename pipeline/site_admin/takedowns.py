"""Pages that an operator takes down: the store first, then Solr, both before the answer to the form."""

import logging

from crawler.urls.canonical import canonicalize_url
from docstore.takedowns import MAX_REASON_CHARS
from domain.account import Role
from domain.article import document_id
from domain.errors import PlumblineError, UrlError
from domain.message import Message
from domain.operation import Call, Change, Field, Operation
from domain.outcome import Reason
from pipeline.engine import Engine

log = logging.getLogger(__name__)


def takedown_operations(engine: Engine, opens_solr: bool = False) -> tuple[Operation, Operation]:
    """Return `page_takedown` and `page_restore`, of a URL, canonical or not. They raise UrlError for other texts.

    The documents are deleted from Solr at once, even while a run writes to the index. If Solr is not available, the
    next update of the index deletes them: their deletion is logged in the store. With `opens_solr` a takedown opens
    Solr if it is not open and the store has indexed documents.
    """
    table, store = engine.store.takedowns, engine.store

    def take_down(call: Call) -> Change | None:
        url, reason, other_urls = parse_url(call), call.text("reason"), call.values.get("urls", ())
        new_takedowns = table.take_down(url, call.account, reason, call.operation_id, other_urls)
        urls = [takedown.url for takedown in new_takedowns]
        after = {"url": url, "reason": reason, "urls": urls}
        return Change(url, after, {"url": url}, result=new_takedowns) if urls else None

    def restore(call: Call) -> Change | None:
        url = parse_url(call)
        takedown = table.find(url)
        if takedown is None:
            return None
        restored = table.restore(url, call.operation_id)
        values = {"url": url, "reason": takedown.reason, "urls": [item.url for item in restored]}
        return Change(url, values, values)

    def delete_documents(change: Change) -> None:
        has_documents = store.change_log.indexed_document_count() > 0
        if not (engine.has_index or (opens_solr and has_documents)):
            return
        try:
            engine.index.delete([document_id(url) for url in change.after["urls"]])
            engine.index.commit(soft=True)
        except PlumblineError as error:
            log.warning("%s was not deleted from Solr at once: %s", change.subject, error)

    url = Field("url", is_required=True)
    reason = Field(
        "reason", MAX_REASON_CHARS, is_required=True, missing_message=Message("Enter the reason for the takedown.")
    )
    return (
        Operation(
            "page_takedown",
            Role.OPERATOR,
            take_down,
            (url, reason),
            inverse="page_restore",
            message=Message("The page is taken down."),
            unchanged_message=Message("The page was taken down before."),
            follow_up=delete_documents,
        ),
        Operation(
            "page_restore",
            Role.OPERATOR,
            restore,
            (url,),
            inverse="page_takedown",
            message=Message("The takedown is undone. The next run crawls the page again."),
        ),
    )


def parse_url(call: Call) -> str:
    """Return the canonical form of the URL of a call. Raises UrlError."""
    text = call.text("url")
    url = canonicalize_url(text)
    if isinstance(url, Reason):
        raise UrlError("“{entry}” is neither a host nor an http or https URL.", entry=text[:200])
    return url
