"""What the pages of followed searches get from `pipeline`."""

from collections.abc import Callable
from dataclasses import replace
from email.utils import make_msgid

from domain.account import Role
from domain.follow import Follow
from domain.message import Message
from domain.operation import Call, Change, Field, Operation
from pipeline.alerts.channels import MailSender, create_mail, post_webhook
from pipeline.engine import Engine
from pipeline.settings import Settings
from search_ui.interfaces import FollowTools


def follow_tools(engine: Engine) -> FollowTools:
    """Return the functions for followed searches of a vertical."""
    table = engine.follows

    def send_mail(address: str, subject: str, text: str) -> None:
        settings = engine.settings.current()
        message = create_mail(settings, [address], subject, text)
        message["Message-ID"] = make_msgid(domain="plumbline.invalid")
        with MailSender(settings) as sender:
            sender.send(message)

    def start(follow: Follow) -> Follow:
        return table.save(replace(follow, batch=mark_seen(engine)))

    return FollowTools(
        can_mail=lambda: can_mail(engine.settings.current()),
        allow_request=table.allow_request,
        send_mail=send_mail,
        test_webhook=lambda url: post_webhook(
            engine.settings.current(), url, {"text": engine.settings.current().search.title, "articles": []}
        ),
        start=start,
        list_by_address=table.list_by_address,
        stop=table.stop,
        counts=table.counts,
        list_problems=table.list_problems,
    )


def follow_operations(engine: Engine) -> tuple[Operation, ...]:
    """Return `follow_retry` and `follow_stop`, for a follow whose messages fail."""
    field = (Field("follow_id", 32, is_required=True),)

    def change(call: Call, apply: Callable[[Follow], object]) -> Change | None:
        follow = engine.follows.find(call.text("follow_id"))
        if follow is None:
            return None
        apply(follow)
        return Change(follow.masked_address, {})

    return (
        Operation(
            "follow_retry",
            Role.OPERATOR,
            lambda call: change(call, lambda follow: engine.follows.retry(follow.follow_id)),
            field,
            message=Message("The messages are sent after the next run."),
        ),
        Operation(
            "follow_stop",
            Role.OPERATOR,
            lambda call: change(call, lambda follow: engine.follows.stop(follow.address, follow.follow_id)),
            field,
            message=Message("The search is not followed any more."),
        ),
    )


def mark_seen(engine: Engine) -> int:
    """Save the articles in the index that were never seen. Returns the number of the last batch."""
    return engine.follows.mark_seen(engine.store.change_log.iter_indexed_ids())


def can_mail(settings: Settings) -> bool:
    """Return True if readers can follow searches by mail: links and sender of a mail are known."""
    return bool(settings.alerts.readers and settings.alerts.sender and settings.search.base_url)
