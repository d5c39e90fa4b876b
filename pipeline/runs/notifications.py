"""What is sent at the end of a run: alerts to the administrator, new articles to followers."""

from pipeline.alerts.service import notify_operator
from pipeline.engine import Engine


def send_notifications(engine: Engine) -> None:
    """Send alerts and new articles. Errors are only logged, so that the run does not fail."""
    from pipeline.follows.delivery import deliver_follows  # imported late because it loads the search site

    notify_operator(engine)
    deliver_follows(engine)
