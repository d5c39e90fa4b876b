"""The jars of the embedded Solr: the lock file, and verified downloads from a Maven repository on loopback."""

import hashlib
import re
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from domain.errors import SolrError
from indexer.solr_jars import LOCK_PATH, ROOT_ARTIFACTS, ensure_jars
from maven_jars import maven_client
from maven_jars.jar_cache import Jar, default_cache_folder, parse_lock
from tests.web_fixture import PATIENCE, serving


def test_lock_holds_the_roots_and_names_no_host_or_folder() -> None:
    text = LOCK_PATH.read_text("utf-8")
    jars = parse_lock(text)
    assert set(ROOT_ARTIFACTS) <= {f"{jar.group}:{jar.artifact}:{jar.version}" for jar in jars}
    assert all(re.fullmatch(r"[\w.-]+:[\w.-]+:[\w.-]+ [0-9a-f]{64}", line) for line in text.splitlines())
    assert len({jar.file_name for jar in jars}) == len({(jar.group, jar.artifact) for jar in jars}) == len(jars)


def test_lock_reads_back_as_it_is_written() -> None:
    jar = Jar("org.example", "thing", "1.0", "ab" * 32)
    assert parse_lock(f"# a comment\n\n{jar.lock_line}\n") == (jar,)


class Repository:
    """A Maven repository in a folder, served on loopback; counts the requests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: Counter[str] = Counter()
        asked = self.asked

        class Handler(SimpleHTTPRequestHandler):
            def do_GET(self) -> None:
                asked[self.path.rpartition("/")[2]] += 1
                super().do_GET()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def publish(self, artifact: str, content: bytes) -> Jar:
        """Add a jar; return its line of the lock file."""
        path = self.folder / "org/example" / artifact / "1.0" / f"{artifact}-1.0.jar"
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        return Jar("org.example", artifact, "1.0", hashlib.sha256(content).hexdigest())


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    """Yield the only repository of the Maven client."""
    made = Repository(tmp_path / "repository")
    monkeypatch.setattr(maven_client, "MAVEN_CENTRAL_URL", made.url)
    monkeypatch.setenv("JGO_CONFIG_FILE", str(tmp_path / "none.conf"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving(made.server):
        yield made


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_fetches_once_and_says_so(repository: Repository, tmp_path: Path) -> None:
    jars = [repository.publish("one", b"1"), repository.publish("two", b"2")]
    folder, notes = tmp_path / "cache" / "jars", list[str]()
    assert ensure_jars(folder, notes.append, jars) == folder
    ensure_jars(folder, notes.append, jars)
    assert names(folder) == ["org.example.one-1.0.jar", "org.example.two-1.0.jar"]
    assert names(folder.parent) == ["jars", "jars.lock"]
    assert (repository.asked["one-1.0.jar"], len(notes)) == (1, 2)


def test_takes_up_a_killed_download(repository: Repository, tmp_path: Path) -> None:
    jars = [repository.publish("whole", b"whole"), repository.publish("half", b"half and half")]
    staging = tmp_path / "jars.partial"
    staging.mkdir()
    (staging / jars[0].file_name).write_bytes(b"whole")
    (staging / jars[1].file_name).write_bytes(b"half")
    broken = tmp_path / "jars.scratch" / "org/example/half/1.0/half-1.0.jar"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"ha")
    folder = ensure_jars(tmp_path / "jars", print, jars)
    assert (folder / jars[1].file_name).read_bytes() == b"half and half"
    assert (repository.asked["whole-1.0.jar"], repository.asked["half-1.0.jar"]) == (0, 1)


def test_several_at_once_fetch_once(repository: Repository, tmp_path: Path) -> None:
    jars = [repository.publish("one", b"1" * 100_000)]
    folder = tmp_path / "jars"
    threads = [threading.Thread(target=ensure_jars, args=(folder, print, jars)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert names(folder) == ["org.example.one-1.0.jar"]
    assert repository.asked["one-1.0.jar"] == 1


def expect_error(folder: Path, jars: list[Jar], *said: str) -> None:
    with pytest.raises(SolrError) as caught:
        ensure_jars(folder, print, jars)
    text = str(caught.value)
    assert "\n" not in text
    assert all(part in text for part in said)


def test_a_jar_that_is_not_the_locked_one_is_not_kept(repository: Repository, tmp_path: Path) -> None:
    jar = repository.publish("one", b"1")
    expect_error(tmp_path / "jars", [Jar(jar.group, jar.artifact, jar.version, "0" * 64)], "one-1.0.jar", "lock")
    assert not (tmp_path / "jars").exists()


def test_a_jar_that_cannot_be_had(repository: Repository, tmp_path: Path) -> None:
    expect_error(tmp_path / "jars", [Jar("org.example", "none", "1.0", "0" * 64)], "none-1.0.jar", "index.solr_url")


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    expect_error(tmp_path / "file" / "jars", [], "index.solr_jars")


def test_a_jar_of_an_older_lock_file_is_not_kept(repository: Repository, tmp_path: Path) -> None:
    jar = repository.publish("one", b"1")
    staging = tmp_path / "jars.partial"
    staging.mkdir()
    (staging / "org.example.old-0.9.jar").write_bytes(b"old")
    assert names(ensure_jars(tmp_path / "jars", print, [jar])) == [jar.file_name]
    (tmp_path / "jars" / "intruder.jar").write_bytes(b"2")
    expect_error(tmp_path / "jars", [jar], "intruder.jar", f"delete {tmp_path / 'jars'}")


@pytest.mark.parametrize("damage", ["missing", "changed"])
def test_a_damaged_folder_is_not_used(tmp_path: Path, damage: str) -> None:
    jar = Jar("org.example", "one", "1.0", hashlib.sha256(b"1").hexdigest())
    folder = tmp_path / "jars"
    folder.mkdir()
    if damage == "changed":
        (folder / jar.file_name).write_bytes(b"2")
    expect_error(folder, [jar], jar.file_name, f"delete {folder}")


def test_a_user_without_a_home_has_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def getpwuid(_: int) -> None:
        raise KeyError

    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", getpwuid)
    assert default_cache_folder("solr", LOCK_PATH).parent.parent == Path(tempfile.gettempdir())
