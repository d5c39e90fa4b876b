"""What is sent at the end of a run: alerts to the administrator, new articles to followers."""

import logging

from domain.errors import BusyError, PlumblineError
from domain.message import Message, error_message
from pipeline.alerts.service import notify_operator
from pipeline.engine import Engine

log = logging.getLogger(__name__)


def send_notifications(engine: Engine) -> None:
    """Send alerts and new articles. Errors are only logged, so that the run does not fail."""
    notify_operator(engine)
    deliver_follows(engine)


def deliver_follows(engine: Engine) -> None:
    """Send new articles to followers. Errors are only logged, so that the run does not fail."""
    try:
        if not engine.follows.counts().follows:
            return
        from pipeline.follows.delivery import match_due, send_waiting  # loads the search site

        with engine.lock("follows"):
            send_waiting(engine)
            match_due(engine)
            send_waiting(engine)
    except BusyError as error:
        log.info("follows: %s", error)
    except PlumblineError as error:
        log.error("new articles were not sent to followers, the next run sends them: %s", error)
        engine.progress.note(Message("New articles were not sent to followers: {reason}", reason=error_message(error)))
    except Exception:  # an unexpected error must not fail the run
        log.exception("new articles were not sent to followers")
