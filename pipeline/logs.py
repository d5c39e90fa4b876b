"""Logs of a vertical: `logs/plumb.log` in its data folder, and `logs/access.log` if `search.access_log` is set.

All modules use Python's `logging`. structlog formats the lines as text or JSON (`vertical.log_format`) and adds the run
and stage. Secrets of the environment and of the settings are masked.
"""

import fcntl
import logging
import logging.handlers
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.http.login_secrets import SECRET_VARIABLE_PREFIX
from domain.errors import PlumblineError, StoreError
from locks.private_files import open_private

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor, WrappedLogger

LOG_FORMATS = ("text", "json")
MAX_LOG_BYTES = 5_000_000
LOG_BACKUP_COUNT = 3
ENCODING_ERRORS = "backslashreplace"  # UTF-8 cannot encode lone surrogates
SECRET_VARIABLES = (
    "PLUMB_SMTP_PASSWORD",
    "PLUMB_ALERTS_WEBHOOK",
    "PLUMB_ALERTS_APPRISE_URLS",
    "PLUMB_ADMIN_PASSWORD",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
)
MIN_SECRET_LENGTH = 4  # characters; shorter values match unrelated text
MASK = "***"
_configured_secrets: set[str] = set()
_URL_PASSWORD = re.compile(r"(://(?:[^/\s:@]*:)?)[^\s/]+@")
_NAMED_SECRET = re.compile(
    r"""(?i)\b(password|passwd|secret|api[_-]?key|authorization|bearer|token)"""
    r"""(["']?\s*=\s*["']?|["']\s*:\s*["']?|(?:\s*:\s*["']?|\s+)(?=\S{0,11}\d|\S{12}))"""
    r"""[^\s"',;&]+"""
)


def configure_logging(path: Path, log_format: str = LOG_FORMATS[0]) -> None:
    """Send all log records of level INFO and above to the rotated file at `path`. Raises PlumblineError."""
    logging.getLogger().handlers[:] = [create_file_handler(path, log_format)]
    logging.getLogger().setLevel(logging.INFO)
    logging.raiseExceptions = False  # no traceback on the terminal if the log cannot be written
    for noisy in ("urllib3", "pysolr", "apscheduler", "charset_normalizer", "mcp"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def configure_access_log(path: Path, log_format: str) -> None:
    """Write one line per response of the whole search site to the file at `path`, and to no other log.

    `search_ui.admin.access_log` creates the lines. Raises PlumblineError if the file cannot be opened.
    """
    access_logger = logging.getLogger("search_ui.admin.access_log")
    access_logger.handlers[:] = [create_file_handler(path, log_format)]
    access_logger.setLevel(logging.INFO)
    access_logger.propagate = False


def create_file_handler(path: Path, log_format: str) -> logging.Handler:
    """Create a handler that appends to a rotated file. Raises PlumblineError if the file cannot be opened."""
    try:
        file_handler = SharedFileHandler(
            path, maxBytes=MAX_LOG_BYTES, backupCount=LOG_BACKUP_COUNT, encoding="utf-8", errors=ENCODING_ERRORS
        )
    except OSError as error:
        raise PlumblineError(f"cannot write the log {path}: {error.strerror}; make the file writable") from error
    file_handler.setFormatter(create_formatter(log_format))
    return file_handler


def create_formatter(log_format: str) -> logging.Formatter:
    """Create the formatter for `text` or `json` lines."""
    import structlog  # imported late: takes 0.1 s, and invalid settings need no log

    create_renderer = json_renderer if log_format == "json" else text_renderer
    pre_chain: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="%Y-%m-%dT%H:%M:%S.%f%z", utc=False),
    ]
    processors: list[Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        mask_event,
        create_renderer(),
    ]
    return structlog.stdlib.ProcessorFormatter(processors=processors, foreign_pre_chain=pre_chain)


def json_renderer() -> "Processor":
    """Return a processor that renders an event as one line of JSON."""
    import structlog

    return structlog.processors.JSONRenderer(ensure_ascii=False, default=str)


def text_renderer() -> "Processor":
    """Return a processor that renders time, level, logger, event and fields as a line, then the traceback."""

    def line(_: "WrappedLogger", __: str, event: "EventDict") -> str:
        fields = (event.pop(name, "") for name in ("timestamp", "level", "logger", "event"))
        timestamp, level, logger, text = map(str, fields)
        traceback = event.pop("exception", "")
        extras = "".join(f" {name}={value}" for name, value in event.items())
        return f"{timestamp[:19].replace('T', ' ')}{timestamp[26:]} {level.upper()} {logger} {text}{extras}" + (
            f"\n{traceback}" if traceback else ""
        )

    return line


def mask_event(_: "WrappedLogger", __: str, event: "EventDict") -> "EventDict":
    """Mask secrets in all text values (see `create_masker`)."""
    mask = create_masker()
    return {name: mask(value) if isinstance(value, str) else value for name, value in event.items()}


def create_masker() -> Callable[[str], str]:
    """Return a function that replaces secrets in a text by ***.

    Secrets are passwords in URLs, named secrets, the values of SECRET_VARIABLES and those of logins (read once), and
    `register_secrets`.
    """
    names = (*SECRET_VARIABLES, *(name for name in os.environ if name.startswith(SECRET_VARIABLE_PREFIX)))
    values = {*_configured_secrets, *(os.environ.get(name, "") for name in names)}
    # Longest first: a secret can be part of another one.
    secrets = sorted((value for value in values if len(value) >= MIN_SECRET_LENGTH), key=len, reverse=True)

    def mask(text: str) -> str:
        for secret in secrets:
            text = text.replace(secret, MASK)
        return _NAMED_SECRET.sub(rf"\1\2{MASK}", _URL_PASSWORD.sub(rf"\1{MASK}@", text))

    return mask


def register_secrets(*values: str) -> None:
    """Mask these values in all later log records of this process. Empty values are ignored."""
    _configured_secrets.update(filter(None, values))


class SharedFileHandler(logging.handlers.RotatingFileHandler):
    """Rotating file handler for several processes: each write holds a file lock and reopens a rotated file."""

    def _open(self) -> Any:
        return open(self.baseFilename, self.mode, encoding=self.encoding, errors=self.errors, opener=open_private)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record under the lock, which is opened each time: forked processes would share an open one."""
        try:
            with open(Path(self.baseFilename).with_suffix(".lock"), "a", opener=open_private) as lock_file:
                fcntl.flock(lock_file, fcntl.LOCK_EX)
                self._reopen_if_rotated()
                super().emit(record)
        except OSError:
            self.handleError(record)

    def _reopen_if_rotated(self) -> None:
        """Close the file if another process has rotated it or it was removed; `emit` opens it again if it can."""
        try:
            if self.stream is not None and not os.path.samestat(
                os.fstat(self.stream.fileno()), os.stat(self.baseFilename)
            ):
                raise FileNotFoundError
        except OSError:
            if self.stream is not None:
                self.stream.close()
            self.stream = None


def ensure_folder(folder: Path) -> None:
    """Create `folder` and its parents. Raises StoreError if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot create {folder}: {error.strerror}; choose another vertical.data_dir") from error
