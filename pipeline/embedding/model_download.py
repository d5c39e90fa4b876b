"""The download of the default models in a process of its own, so that keyword search need not wait for it."""

import subprocess
import sys
from pathlib import Path

from maven_jars.jar_cache import is_download_active
from pipeline.embedding.models import FAILURE_PREFIX, jar_folder, missing_packages_message
from pipeline.embedding.settings import DEFAULT_MODEL, EmbedSettings


def needs_download(settings: EmbedSettings) -> bool:
    """True if the settings use the default models, which are installed without their files."""
    uses_default = settings.model == DEFAULT_MODEL and not missing_packages_message()
    return uses_default and not jar_folder(settings).is_dir()


def is_downloading(settings: EmbedSettings) -> bool:
    """True while any process downloads the default models."""
    return settings.model == DEFAULT_MODEL and is_download_active(jar_folder(settings))


class ModelDownload:
    """A download of the default models. Use it in a `with` block; its end stops the download, which can be continued.

    Args:
        settings: Names the folder for the files.
    """

    def __init__(self, settings: EmbedSettings) -> None:
        self._folder = jar_folder(settings)

    def __enter__(self) -> "ModelDownload":
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pipeline.embedding.models", str(self._folder.resolve())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],  # makes `pipeline` importable from any working directory
        )
        return self

    @property
    def is_active(self) -> bool:
        """True while the download runs."""
        return self._process.poll() is None

    def failure(self) -> str:
        """Wait for the end of the download; returns the message of its failure in one line, or ""."""
        _, output = self._process.communicate()
        last_line = " ".join(output.strip().splitlines()[-1:])
        if not self._process.returncode or last_line.startswith(FAILURE_PREFIX):
            return last_line.removeprefix(FAILURE_PREFIX) if self._process.returncode else ""
        return f"the download of the models ended with status {self._process.returncode}: {last_line}"

    def __exit__(self, *_: object) -> None:
        self._process.kill()  # a killed download is continued by the next one
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
