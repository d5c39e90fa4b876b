"""The log file of a vertical: `logs/plumb.log` in its data folder."""

import logging
import logging.handlers
from pathlib import Path

from docstore.errors import PlumblineError


def log_to(path: Path) -> None:
    """Warnings and tracebacks go to a file that is rotated; a person is told in one line where it is."""
    try:
        handler = logging.handlers.RotatingFileHandler(path, maxBytes=5_000_000, backupCount=3, encoding="utf-8")
    except OSError as error:
        raise PlumblineError(f"cannot write the log {path}: {error.strerror}; see that it can be written") from error
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.getLogger().handlers[:] = [handler]
    logging.getLogger().setLevel(logging.INFO)
    logging.raiseExceptions = False  # a log that cannot be written is no reason to print tracebacks
    for noisy in ("urllib3", "pysolr", "apscheduler", "charset_normalizer"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
