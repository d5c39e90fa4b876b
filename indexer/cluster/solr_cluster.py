"""A whole SolrCloud on loopback: ZooKeeper and several Solr nodes, each a process of its own.

    with SolrCluster(home, nodes=3, heap="256m") as cluster:
        cluster.urls                 # http://user:password@127.0.0.1:PORT/solr, of every node
        cluster.kill(2); cluster.start_node(2)

It is what `make cluster`, the tests and the benchmarks of several nodes run on; a vertical of its own uses the embedded
node (`indexer.solr_node`), one of several machines its own Solr (deploy/). In `home`: `secret/` (as of the embedded
node), `security.json`, `zookeeper/`, `node1/` ... with `solr/` and `logs/`. All processes end with the one that made
them, however it ends (`indexer.solr_guard`); nothing outlives it but the data.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import requests

from docstore.errors import SolrError, SolrUnavailableError
from docstore.solr_http import SolrSession
from indexer.class_archive import archive_options
from indexer.cluster.security import security_json
from indexer.settings import IndexSettings
from indexer.solr_jars import default_folder, resolve_jars
from indexer.solr_node import ANSWER_SECONDS, JETTY, LOOPBACK, POLL_SECONDS, any_free_port, java_line
from indexer.solr_secret import USER, java_properties, prepare_secret, secret_of, write_private

ZOOKEEPER_HEAP = "64m"
MAX_ERROR = 400  # characters
ZOOKEEPER = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
COPY = ("org.apache.solr.cli.SolrCLI", "zk", "cp")


class SolrCluster:
    """ZooKeeper and `nodes` Solr nodes in `home`, each with so much `heap`. Use with `with`.

    Raises SolrError where one does not start within `start_timeout` seconds.
    """

    def __init__(
        self,
        home: Path,
        nodes: int = 3,
        heap: str = "256m",
        start_timeout: float = IndexSettings().start_timeout,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.home = home.absolute()
        self.nodes = nodes
        self._heap = heap
        self._start_timeout = start_timeout
        self._note = note
        self._users: IO[str] | None = None
        self._guards: dict[str, subprocess.Popen[bytes]] = {}
        self._ports: dict[str, int] = {}
        self._jars, self._options = Path(), list[str]()

    @property
    def urls(self) -> list[str]:
        """The base URL of every node, with what lets us ask it."""
        return [self.url_of(number) for number in range(1, self.nodes + 1)]

    @property
    def url(self) -> str:
        """All nodes, as `index.solr_url` takes them."""
        return ",".join(self.urls)

    def url_of(self, number: int) -> str:
        """The base URL of node `number` (from 1)."""
        return f"http://{USER}:{secret_of(self.home)}@{LOOPBACK}:{self._ports[_name(number)]}/solr"

    def start(self) -> None:
        """Start ZooKeeper, say there who may ask, and start all nodes side by side; returns when all take part."""
        self._jars = resolve_jars(default_folder(), self._note)
        self._options = archive_options(self._jars, self._note)
        self.home.mkdir(parents=True, exist_ok=True)
        prepare_secret(self.home)
        self._users = (self.home / "users.lock").open("a")
        fcntl.flock(self._users, fcntl.LOCK_SH)
        try:
            self._run("zookeeper", self._zookeeper_command())
            self._put_security()
            for number in range(1, self.nodes + 1):
                self._run(_name(number), self._node_command(number))
            for number in range(1, self.nodes + 1):
                self.wait_for(number)
        except BaseException:
            self.stop()
            raise

    def start_node(self, number: int) -> None:
        """Start a node that was killed, at its old port, and wait until it takes part."""
        self._reap(_name(number))
        self._run(_name(number), self._node_command(number))
        self.wait_for(number)

    def kill(self, number: int) -> None:
        """kill -9 of the Java of node `number`; returns when it is gone."""
        self._kill(_name(number))

    def stop(self) -> None:
        """End all processes: at once, for the data are kept by Solr's own log."""
        for name in [*self._guards]:
            self._kill(name)
        if self._users is not None:
            self._users.close()
            self._users = None

    def wait_for(self, number: int) -> None:
        """Wait until node `number` answers and is known to its cluster."""
        node, deadline = f"{LOOPBACK}:{self._ports[_name(number)]}_solr", time.monotonic() + self._start_timeout
        with SolrSession(self.url_of(number), ANSWER_SECONDS) as session:
            while time.monotonic() < deadline:
                if self._guards[_name(number)].poll() is not None:
                    raise SolrError(f"Solr ended while it was starting: see {self.home / _name(number) / 'logs'}")
                try:
                    if node in session.cluster()["live_nodes"]:
                        return
                except (requests.RequestException, ValueError, KeyError):
                    pass
                time.sleep(POLL_SECONDS)
        raise SolrUnavailableError(f"node {number} was not ready after {self._start_timeout:g} s: see {self.home}")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # -- processes

    def _run(self, name: str, command: Sequence[str]) -> None:
        logs = self.home / name / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        with (self.home / name / "guard.lock").open("a") as lock, (logs / "java.log").open("w") as log:
            guard = [sys.executable, "-m", "indexer.solr_guard", str(self.home / "users.lock"), str(lock.fileno())]
            self._guards[name] = subprocess.Popen(
                [*guard, *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[lock.fileno()],
                cwd=Path(__file__).parents[2],
                start_new_session=True,
            )

    def _kill(self, name: str) -> None:
        """The guard's group is its session: Java and the guard."""
        guard = self._guards[name]
        if guard.poll() is None:
            os.killpg(guard.pid, signal.SIGKILL)
        guard.wait()

    def _reap(self, name: str) -> None:
        if guard := self._guards.pop(name, None):
            guard.wait(self._start_timeout)

    # -- commands

    def _port(self, name: str) -> int:
        """The port of a process, the same each time it is started."""
        return self._ports.setdefault(name, any_free_port())

    def _zookeeper_command(self) -> list[str]:
        folder = self.home / "zookeeper"
        (folder / "data").mkdir(parents=True, exist_ok=True)
        logs, config = folder / "logs", folder / "zoo.cfg"
        said = (JETTY / "zoo.cfg").read_text()
        config.write_text(f"{said}dataDir={folder / 'data'}\nclientPort={self._port('zookeeper')}\n")
        properties = {**java_properties(self.home), "solr.log.dir": logs, **_logging()}
        return java_line(ZOOKEEPER_HEAP, [], logs, properties, self._jars, [ZOOKEEPER, str(config)])

    def _node_command(self, number: int) -> list[str]:
        home, logs = self.home / _name(number), self.home / _name(number) / "logs"
        (home / "solr").mkdir(parents=True, exist_ok=True)
        (home / "webapp").mkdir(exist_ok=True)
        shutil.copyfile(JETTY / "solr.xml", home / "solr" / "solr.xml")
        properties: dict[str, object] = {
            "host": LOOPBACK,
            "jetty.port": self._port(_name(number)),
            "java.net.preferIPv4Stack": "true",
            "solr.solr.home": home / "solr",
            "solr.install.dir": home,
            "solr.log.dir": logs,
            "zkHost": f"{LOOPBACK}:{self._port('zookeeper')}",
            "plumbline.webapp": home / "webapp",
            "plumbline.webxml": JETTY / "web-cloud.xml",
            "java.awt.headless": "true",
            "user.timezone": "UTC",
            **_logging(),
            **java_properties(self.home),
        }
        for name in ("solr.httpclient.builder.factory", "solr.httpclient.config"):
            del properties[name]  # between nodes Solr's own keys
        program = ["org.eclipse.jetty.xml.XmlConfiguration", str(JETTY / "jetty.xml")]
        return java_line(self._heap, self._options, logs, properties, self._jars, program)

    def _put_security(self) -> None:
        """Put security.json into ZooKeeper, by Solr's own tool, as soon as ZooKeeper answers."""
        said = self.home / "security.json"
        if not said.exists():
            write_private(said, security_json(USER, secret_of(self.home)))
        properties = {**java_properties(self.home), "solr.log.dir": self.home, **_logging()}
        program = [*COPY, f"file:{said}", "zk:/security.json", "-z", f"{LOOPBACK}:{self._port('zookeeper')}"]
        command = java_line(ZOOKEEPER_HEAP, self._options, self.home, properties, self._jars, program)
        done = subprocess.run(command, capture_output=True, text=True, timeout=self._start_timeout, check=False)
        if done.returncode:
            said_why = " ".join((done.stdout + done.stderr).split())[-MAX_ERROR:]
            raise SolrError(f"ZooKeeper does not take security.json: {said_why}")


def _name(number: int) -> str:
    return f"node{number}"


def _logging() -> dict[str, object]:
    return {
        "zookeeper.admin.enableServer": "false",
        "log4j2.configurationFile": JETTY / "log4j2.xml",
        "java.util.logging.config.file": JETTY / "logging.properties",
    }
