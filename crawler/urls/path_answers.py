"""What hosts answered to questions that need not be asked in each run. Saved between runs.

Is there a page behind URLs with the extension of a file, such as `/wiki/Node.js`? One HEAD request for each pattern of
a host shows it. Is there a sitemap at a usual location? A missing one is requested again after a week.
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
    """The answers by host and by pattern or path: (whether there is one, time of the answer in epoch seconds)."""

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
        """Save the answers of the hosts that were asked last."""
        write_state(path, dict(list(self.answers_by_host.items())[-_MAX_HOSTS:]))

    def record(self, host: Host, key: str, exists: bool, now: float) -> None:
        """Record an answer."""
        answers = self.answers_by_host.pop(host, {})
        self.answers_by_host[host] = answers
        answers[key] = (exists, now)
        if len(answers) > _MAX_ANSWERS_PER_HOST:
            del answers[next(iter(answers))]

    def is_missing(self, host: Host, path: str, now: float) -> bool:
        """True if there was no file at the path in the last week."""
        exists, at = self.answers_by_host.get(host, {}).get(path, (True, 0.0))
        return not exists and at <= now < at + MISSING_FILE_SECONDS

    def is_page_pattern(self, host: Host, pattern: str) -> bool | None:
        """Return whether the URLs of a pattern are pages, by its own answer or those of its extension.

        None: unknown.
        """
        answers = self.answers_by_host.get(host, {})
        if pattern in answers:
            return answers[pattern][0]
        extension = pattern[pattern.rindex("*") :]
        same_extension = [exists for key, (exists, _) in answers.items() if key.endswith(extension)]
        return False if len(same_extension) >= _MIN_FILE_PATTERNS and not any(same_extension) else None


def file_pattern(url: str) -> str:
    """Return the folder and extension of a URL as a pattern: `/wiki/*.js`."""
    return f"{folder_pattern(url).partition('*')[0]}*.{path_extension(url)}"
