"""The Maven client. Loading it takes a third of a second, so only who downloads does."""

from collections.abc import Callable
from pathlib import Path

import requests
from jgo.config import GlobalSettings
from jgo.constants import MAVEN_CENTRAL_URL
from jgo.maven import MavenContext


def create_jar_downloader(cache: Path) -> Callable[[str, str, str], Path]:
    """What downloads the jar of (group, artifact, version) into `cache`; ConnectionError says why it cannot.

    It asks the repositories that its own configuration names before Maven Central.
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
