"""What hosts answered to requests that are not repeated in each run. Saved between runs.

Is there a page behind URLs with the extension of a file, such as `/wiki/Node.js`? One HEAD request for each pattern of
a host shows it. Is there a sitemap at a usual location? A request is repeated a week after a negative answer.
"""

from dataclasses import dataclass, field
from pathlib import Path

from crawler.state_files import load_state, write_state
from crawler.traps.url_patterns import folder_pattern
from crawler.urls.canonical import path_extension
from domain.page import Host

MISSING_FILE_SECONDS = 7 * 86_400.0
_MIN_FILE_PATTERNS = 3  # patterns of a host and extension that are all files, before the others count as files
_MAX_ANSWERS_PER_HOST = 500
_MAX_HOSTS = 5000


@dataclass
class PathAnswers:
    """The answers by host and by pattern or path: (True if it exists, time of the answer in epoch seconds)."""

    answers_by_host: dict[str, dict[str, tuple[bool, float]]] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> "PathAnswers":
        """Load the answers of earlier runs. Starts empty if the file is not readable."""
        return load_state(
            path,
            lambda state: cls(
                {host: {k: (bool(yes), float(at)) for k, (yes, at) in rows.items()} for host, rows in state.items()}
            ),
        )

    def save(self, path: Path) -> None:
        """Save the answers of the hosts with the latest requests."""
        write_state(path, dict(list(self.answers_by_host.items())[-_MAX_HOSTS:]))

    def record(self, host: Host, key: str, exists: bool, now: float) -> None:
        """Record the answer of a host for a pattern or path; `now` is epoch seconds."""
        answers = self.answers_by_host.pop(host, {})
        self.answers_by_host[host] = answers
        answers[key] = (exists, now)
        if len(answers) > _MAX_ANSWERS_PER_HOST:
            del answers[next(iter(answers))]

    def find(self, host: Host, key: str, now: float) -> bool | None:
        """Return the answer for a key, or None if there is none or it is negative and older than a week."""
        exists, at = self.answers_by_host.get(host, {}).get(key, (None, 0.0))
        return exists if exists or at <= now < at + MISSING_FILE_SECONDS else None

    def is_page_pattern(self, host: Host, pattern: str, now: float) -> bool | None:
        """Return whether the URLs of a pattern are pages, by its own answer or those of its extension.

        None: unknown.
        """
        if (answer := self.find(host, pattern, now)) is not None:
            return answer
        keys, extension = self.answers_by_host.get(host, ()), pattern[pattern.rindex("*") :]
        same_extension = [self.find(host, key, now) for key in keys if key.endswith(extension) and key != pattern]
        return False if same_extension.count(False) >= _MIN_FILE_PATTERNS and True not in same_extension else None


def file_pattern(url: str) -> str:
    """Return the folder and extension of a URL as a pattern: `/wiki/*.js`."""
    return f"{folder_pattern(url).partition('*')[0]}*.{path_extension(url)}"
