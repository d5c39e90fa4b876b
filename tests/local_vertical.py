"""A vertical whose commands run in the test process, without a new interpreter for each."""

from collections.abc import Mapping
from pathlib import Path

from tests.crash_harness import Said, Vertical


class LocalVertical(Vertical):
    """Like `Vertical`, but only `start` starts a real process."""

    def plumb(self, *arguments: str, environment: Mapping[str, str] | None = None) -> Said:
        """Run `plumb` in this process and wait for its end."""
        return self.call(*arguments, environment=environment)

    def write(self, sections: Mapping[str, Mapping[str, object]]) -> "LocalVertical":
        """Write the settings and return this vertical."""
        super().write(sections)
        return self

    def copy_to(self, folder: Path) -> "LocalVertical":
        """Copy the vertical to `folder`."""
        super().copy_to(folder)
        return LocalVertical(folder)
