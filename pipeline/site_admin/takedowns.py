"""Pages that an operator takes down."""

from crawler.urls.canonical import canonicalize_url
from docstore.takedowns import MAX_REASON_CHARS, TakedownTable
from domain.account import Role
from domain.errors import UrlError
from domain.message import Message
from domain.operation import Call, Change, Field, Operation
from domain.outcome import Reason


def takedown_operations(table: TakedownTable) -> tuple[Operation, Operation]:
    """Return `page_takedown` and `page_restore`, of a URL, canonical or not. They raise UrlError for other texts.

    The site hides the documents at once (`EngineSearchClient`). The next update of the index deletes them.
    """

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
        takedowns = table.restore(url, call.operation_id)
        values = {"url": url, "reason": takedown.reason, "urls": [item.url for item in takedowns]}
        return Change(url, values, values)

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
