"""The log of a vertical: `logs/plumb.log` in its data folder, and `logs/access.log` where the site is to keep one.

All of the program logs by Python's `logging`; structlog makes the lines: for people, or JSON for machines
(`vertical.log_format`). What is known of the run that a line belongs to stands beside it. No line holds a secret.
"""

import fcntl
import logging
import logging.handlers
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docstore.errors import PlumblineError

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor, WrappedLogger

LOG_FORMATS = ("text", "json")
MAX_LOG_BYTES = 5_000_000
LOG_BACKUP_COUNT = 3
ENCODING_ERRORS = "backslashreplace"  # for lone surrogates, which no encoding has
SECRET_VARIABLES = ("PLUMB_SMTP_PASSWORD", "PLUMB_ALERTS_WEBHOOK")
MIN_SECRET_LENGTH = 4  # characters; what is shorter would be found in every other line
MASK = "***"
_URL_PASSWORD = re.compile(r"(://[^/\s:@]*:)[^@\s/]+@")
_NAMED_SECRET = re.compile(
    r"""(?i)\b(password|passwd|secret|api[_-]?key|authorization|bearer|token)(["']?\s*[=:]\s*["']?|\s+)(?=\S*\d|\S{12})"""
    r"""[^\s"',;&]+"""
)


def configure_logging(path: Path, log_format: str = LOG_FORMATS[0]) -> None:
    """Warnings and tracebacks go to a file that is rotated; a person is told in one line where it is."""
    logging.getLogger().handlers[:] = [create_file_handler(path, log_format)]
    logging.getLogger().setLevel(logging.INFO)
    logging.raiseExceptions = False  # a log that cannot be written is no reason to print tracebacks
    for noisy in ("urllib3", "pysolr", "apscheduler", "charset_normalizer"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def configure_access_log(path: Path, log_format: str) -> None:
    """Requests to the search site go to a file of their own (`search_ui.admin.access_log`)."""
    access = logging.getLogger("search_ui.admin.access_log")
    access.handlers[:] = [create_file_handler(path, log_format)]
    access.setLevel(logging.INFO)
    access.propagate = False


def create_file_handler(path: Path, log_format: str) -> logging.Handler:
    """What writes lines to a file. PlumblineError where it cannot be opened."""
    try:
        file_handler = SharedFileHandler(
            path, maxBytes=MAX_LOG_BYTES, backupCount=LOG_BACKUP_COUNT, encoding="utf-8", errors=ENCODING_ERRORS
        )
    except OSError as error:
        raise PlumblineError(f"cannot write the log {path}: {error.strerror}; see that it can be written") from error
    file_handler.setFormatter(create_formatter(log_format))
    return file_handler


def create_formatter(log_format: str) -> logging.Formatter:
    """Makes a line of a record."""
    import structlog  # a tenth of a second, after the settings have been checked

    create_renderer = json_renderer if log_format == "json" else text_renderer
    pre_chain: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=False),
    ]
    processors: list[Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        mask_event,
        create_renderer(),
    ]
    return structlog.stdlib.ProcessorFormatter(processors=processors, foreign_pre_chain=pre_chain)


def json_renderer() -> "Processor":
    """A JSON object in a line."""
    import structlog

    return structlog.processors.JSONRenderer(ensure_ascii=False, default=str)


def text_renderer() -> "Processor":
    """A line for people: time, level, logger, what happened, what belongs to it; a traceback below."""

    def line(_: "WrappedLogger", __: str, event: "EventDict") -> str:
        fields = (event.pop(name, "") for name in ("timestamp", "level", "logger", "event"))
        timestamp, level, logger, text = map(str, fields)
        traceback = event.pop("exception", "")
        extras = "".join(f" {name}={value}" for name, value in event.items())
        return f"{timestamp[:19].replace('T', ' ')} {level.upper()} {logger} {text}{extras}" + (
            f"\n{traceback}" if traceback else ""
        )

    return line


def mask_event(_: "WrappedLogger", __: str, event: "EventDict") -> "EventDict":
    """The same event without secrets: of URLs, of what is named so, of the variables that hold one."""
    mask = create_masker()
    return {name: mask(value) if isinstance(value, str) else value for name, value in event.items()}


def create_masker() -> Callable[[str], str]:
    """What takes secrets out of a text."""
    secrets = [value for name in SECRET_VARIABLES if len(value := os.environ.get(name, "")) >= MIN_SECRET_LENGTH]

    def mask(text: str) -> str:
        for secret in secrets:
            text = text.replace(secret, MASK)
        return _NAMED_SECRET.sub(rf"\1\2{MASK}", _URL_PASSWORD.sub(rf"\1{MASK}@", text))

    return mask


class SharedFileHandler(logging.handlers.RotatingFileHandler):
    """A file that several processes write to and rotate: each line under a lock, into the file that is there now."""

    def __init__(self, path: Path, **options: Any) -> None:
        super().__init__(path, **options)
        self._lock_fd = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        fcntl.flock(self._lock_fd, fcntl.LOCK_EX)
        try:
            self._reopen_if_rotated()
            super().emit(record)
        finally:
            fcntl.flock(self._lock_fd, fcntl.LOCK_UN)

    def _reopen_if_rotated(self) -> None:
        """Where another process has rotated, the file of this name is a new one."""
        try:
            if self.stream is not None and not os.path.samestat(
                os.fstat(self.stream.fileno()), os.stat(self.baseFilename)
            ):
                raise FileNotFoundError
        except OSError:
            if self.stream is not None:
                self.stream.close()
            self.stream = self._open()

    def close(self) -> None:
        """Close the file."""
        super().close()
        if self._lock_fd >= 0:
            os.close(self._lock_fd)
            self._lock_fd = -1
