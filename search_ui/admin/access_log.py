"""Logs every response with the kind of page and the status, without IP address, query or other personal data."""

import logging

from flask import Response, g, request

from search_ui.context import current_site

_access_log = logging.getLogger(__name__)


def log_response(response: Response) -> Response:
    """Log a response: method, matched URL rule, status, milliseconds, bytes."""
    elapsed_ms = 1000 * (current_site().stopwatch() - g.started) if "started" in g else 0.0
    size = response.calculate_content_length()
    rule = request.url_rule.rule if request.url_rule is not None else ""
    fields = {
        "method": request.method,
        "rule": rule,
        "status": response.status_code,
        "ms": round(elapsed_ms),
        "bytes": size,
    }
    _access_log.info("answered", extra=fields)
    return response
