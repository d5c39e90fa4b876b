"""The Maven client. Import it only for a download: the import takes 0.3 s."""

from collections.abc import Callable
from pathlib import Path

import requests
from jgo.config import GlobalSettings
from jgo.constants import MAVEN_CENTRAL_URL
from jgo.maven import MavenContext


def create_jar_downloader(cache: Path) -> Callable[[str, str, str], Path]:
    """Return a function that downloads the jar (group, artifact, version) into `cache` and returns its path.

    The function raises ConnectionError with the reason if the download fails. Repositories of jgo's configuration
    file are
    tried before Maven Central.
    """
    configured_repositories = GlobalSettings.load().repositories
    context = MavenContext(
        repo_cache=cache, remote_repos={**configured_repositories, "central": MAVEN_CENTRAL_URL}, timeout=60
    )

    def download(group: str, artifact: str, version: str) -> Path:
        try:
            return Path(context.project(group, artifact).at_version(version).artifact().resolve())
        except (requests.RequestException, RuntimeError) as err:
            raise ConnectionError(" ".join(str(err).split())[:300]) from err

    return download
