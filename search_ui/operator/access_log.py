"""Who asked for what kind of page, and how it ended: no address, no query, nothing that says by whom or for what."""

import logging

from flask import Flask, Response, g, request

from search_ui.site import current_site

log = logging.getLogger(__name__)


def use_access_log(app: Flask) -> None:
    """Log a line for every answer of `app`."""
    app.after_request(note)


def note(response: Response) -> Response:
    """Log an answer: method, the rule that the URL matched, status, milliseconds, bytes."""
    took = 1000 * (current_site().stopwatch() - g.started) if "started" in g else 0.0
    size = response.calculate_content_length()
    rule = request.url_rule.rule if request.url_rule is not None else ""
    fields = {"method": request.method, "rule": rule, "status": response.status_code, "ms": round(took), "bytes": size}
    log.info("answered", extra=fields)
    return response
