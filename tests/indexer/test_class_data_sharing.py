"""The class data sharing archive: created once, used if intact, and optional."""

import subprocess
from pathlib import Path

import pytest

from benchmarks.training.solr_classes import class_names
from indexer.class_data_sharing import JAVA_PATH, cds_java_options


def starts(*options: str) -> bool:
    return subprocess.run([str(JAVA_PATH), *options, "-version"], capture_output=True, check=False).returncode == 0


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    """Return a folder without jars: the archive then contains only the classes of Java."""
    folder = tmp_path / "jars"
    folder.mkdir()
    return folder


def test_made_once_and_passed_over_where_damaged(jars: Path) -> None:
    said: list[str] = []
    options = cds_java_options(jars, said.append)
    assert len(said) == 1
    assert cds_java_options(jars, said.append) == options and len(said) == 1
    assert starts("-Xshare:on", *options), "Java refuses the archive"

    [archive] = jars.parent.glob("*.jsa")
    archive.chmod(0o600)
    whole = archive.read_bytes()
    for place in range(5, len(whole), len(whole) // 3):
        archive.write_bytes(whole[:place] + bytes([whole[place] ^ 8]) + whole[place + 1 :])
        assert starts(*options), place
    archive.write_bytes(whole[: len(whole) // 2])
    assert starts(*options)


def test_solr_starts_without_where_it_cannot_be_made(jars: Path) -> None:
    jars.rmdir()
    jars.parent.rmdir()
    assert cds_java_options(jars, lambda _: None) == []


def test_classes_that_are_made_at_run_time_are_left_out() -> None:
    loaded = "# a list\njava/lang/Object id: 0\n@lambda-proxy java/lang/Object run\njdk/proxy1/$Proxy63 id: 9\n"
    assert class_names(loaded + "a/B$$Lambda id: 7\nc/D id: 8 super: 0 source: x.jar\n") == ["java/lang/Object"]
