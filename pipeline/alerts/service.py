"""Alerts at work: decide by the facts, remember what fires, and tell each channel once what began and what is over."""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from docstore.errors import BusyError, PlumblineError
from docstore.reports.alerts import Alert
from pipeline.alerts.facts import facts
from pipeline.alerts.rules import decide
from pipeline.engine import Engine

if TYPE_CHECKING:
    from pipeline.alerts.channels import Channel

log = logging.getLogger(__name__)
WAIT_SECONDS = 60.0  # for another process that tells


def alert(engine: Engine) -> None:
    """See that the operator knows. Whatever goes wrong is logged: no run fails because nobody could be told of it."""
    try:
        for fault in tell(engine):
            log.error("%s", fault)
            engine.progress.note(fault)
    except BusyError as error:
        log.warning("alerts: %s", error)
    except PlumblineError as error:
        log.error("alerts: %s", error)
    except Exception:  # the same for what nobody thought of
        log.exception("alerts")


def tell(engine: Engine) -> list[str]:
    """Decide what fires and tell it to all channels; what went wrong on the way."""
    with engine.lock("alerts", WAIT_SECONDS):
        firing = decide(facts(engine))
        engine.store.alerts.replace(firing)
        wanted = engine.settings.alerts
        if not (wanted.mail_to or wanted.webhook):
            return []
        from pipeline.alerts.channels import channels  # Babel, smtplib: most runs have nobody to tell

        return [fault for one in channels(engine.settings) if (fault := tell_one(engine, one, firing))]


def tell_one(engine: Engine, channel: "Channel", firing: Sequence[Alert]) -> str:
    """Tell a channel what it does not know; "" or what went wrong, in which case it is told the next time.

    A process that dies between the telling and its note tells once more: better twice than never.
    """
    from pipeline.alerts.message import news

    told = news(firing, engine.store.alerts.told(channel.name))
    if not told:
        return ""
    try:
        channel.tell(told)
    except PlumblineError as error:
        return f"alerts not delivered by {channel.name}, will be retried: {error}"
    engine.store.alerts.note_told(channel.name, told.begun, [one.key for one in told.over])
    return ""
