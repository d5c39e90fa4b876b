"""Two administrators change the settings file at the same time: no accepted change is overwritten unseen.

Each administrator has a session of a real HTTP server and takes three steps: load the form, review, save. All 20 orders
of the steps of both are taken, on one setting and on two; then both save in the same moment. Whoever gets a conflict
saves again from the page that reports it.
"""

import itertools
import logging
import random
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import requests
from bs4 import BeautifulSoup
from werkzeug.serving import make_server

from benchmarks.results import OURS, Figure
from domain.account import Role
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.search_app import create_search_app
from pipeline.settings import load_settings
from search_ui.passwords import hash_password

SIMULTANEOUS_ROUNDS = 25
PASSWORD = "password of the benchmark"
SETTINGS = ("crawl.threads", "crawl.depth")
STEPS = ("load", "review", "save")
REVIEWED, SAVED = 200, 303  # HTTP statuses
COMMENTED_LINE = "delay = 2 # polite"
TIMEOUT_SECONDS = 60.0


@dataclass
class Administrator:
    """A session that changes the setting `path` to `value`. `form` has the fields of the page that is open."""

    url: str
    path: str = SETTINGS[0]
    value: int = 0
    session: requests.Session = field(default_factory=requests.Session)
    form: dict[str, str] = field(default_factory=dict)

    def sign_in(self, name: str) -> None:
        """Sign in."""
        self.session.trust_env = False
        page = self._get("/admin/login")
        fields = {"token": page["token"], "name": name, "password": PASSWORD}
        self.session.post(f"{self.url}/admin/login", fields, timeout=TIMEOUT_SECONDS).raise_for_status()

    def load(self) -> None:
        """Load the form."""
        self.form = self._get("/admin/settings")

    def review(self) -> int:
        """Send the changed form; returns the status."""
        return self._post("review", {**self.form, f"set.{self.path}": str(self.value)})

    def save(self) -> int:
        """Save from the page that the last step returned; returns the status: 303 saved, 409 conflict."""
        return self._post("save", self.form)

    def _get(self, path: str) -> dict[str, str]:
        response = self.session.get(f"{self.url}{path}", timeout=TIMEOUT_SECONDS)
        response.raise_for_status()
        return form_fields(response.text)

    def _post(self, step: str, fields: dict[str, str]) -> int:
        response = self.session.post(
            f"{self.url}/admin/settings/{step}", fields, timeout=TIMEOUT_SECONDS, allow_redirects=False
        )
        self.form = form_fields(response.text)
        return response.status_code


def form_fields(html: str) -> dict[str, str]:
    """Return the hidden fields and the two settings of a page; changed settings are those of the account."""
    page = BeautifulSoup(html, "lxml")
    names = {"token", "digest", "shown", *(f"set.{path}" for path in SETTINGS)}
    return {
        str(item["name"]): str(item.get("value", "")) for item in page.select("input[name]") if item["name"] in names
    }


@dataclass
class Totals:
    """Counts over all rounds.

    `overwritten` counts accepted changes that replaced one that their author had not seen, `lost_edits` conflicts after
    which an administrator had to enter a value again.
    """

    rounds: int = 0
    conflicts: int = 0
    overwritten: int = 0
    lost_edits: int = 0


def measure_concurrent(few: bool) -> Sequence[Figure]:
    """Return the figures of the set `concurrent`."""
    totals, chance = Totals(), random.Random(7)
    orders = list(itertools.combinations(range(2 * len(STEPS)), len(STEPS)))
    with TemporaryDirectory() as folder, serve_settings(Path(folder)) as (path, administrators):
        values = itertools.count(2)
        for is_same in (True, False):
            for order in chance.sample(orders, 3) if few else orders:
                assign_changes(administrators, is_same, values)
                run_in_order(path, administrators, order, totals)
            for _ in range(3 if few else SIMULTANEOUS_ROUNDS):
                assign_changes(administrators, is_same, values)
                run_at_once(path, administrators, totals)
    names = ("rounds", "conflicts", "overwritten", "lost_edits")
    return [Figure("concurrent", OURS, name, float(getattr(totals, name))) for name in names]


@contextmanager
def serve_settings(folder: Path) -> Iterator[tuple[Path, list[Administrator]]]:
    """Serve the site of a new vertical without Solr; yields its settings file and two signed-in administrators."""
    path = folder / "v.toml"
    path.write_text(f"[crawl]\n{COMMENTED_LINE}\n")
    with Engine(load_settings(path), NullProgress()) as engine:
        for name in ("ann", "bob"):
            engine.store.accounts.create(name, hash_password(PASSWORD), [Role.OPERATOR])
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        server = make_server("127.0.0.1", 0, create_search_app(engine, opens_solr=False), threaded=True)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            administrators = [Administrator(f"http://127.0.0.1:{server.server_port}") for _ in range(2)]
            for name, administrator in zip(("ann", "bob"), administrators, strict=True):
                administrator.sign_in(name)
            yield path, administrators
        finally:
            server.shutdown()
            thread.join()


def assign_changes(administrators: Sequence[Administrator], is_same: bool, values: Iterator[int]) -> None:
    """Give each administrator a value that was never used, for one setting or for two."""
    for index, administrator in enumerate(administrators):
        administrator.path, administrator.value = SETTINGS[0 if is_same else index], next(values)


def run_in_order(path: Path, administrators: Sequence[Administrator], order: Sequence[int], totals: Totals) -> None:
    """Take the steps of both in one order; `order` has the positions of the first administrator's steps."""
    remaining = [list(STEPS), list(STEPS)]
    has_loaded, accepted_at_first, saved_count = [False, False], [False, False], 0
    is_stale = [False, False]
    for position in range(2 * len(STEPS)):
        index = 0 if position in order else 1
        step = remaining[index].pop(0)
        status = getattr(administrators[index], step)()
        has_loaded[index] = True
        if step == "review" and status != REVIEWED:  # the page of the conflict shows the other change
            totals.conflicts += 1
            is_stale[index] = False
        if step == "save":
            accepted_at_first[index] = status == SAVED
            if status == SAVED or retry(administrators[index], totals):
                saved_count += 1
                is_stale[1 - index] = has_loaded[1 - index] and bool(remaining[1 - index])
    totals.overwritten += sum(stale and accepted for stale, accepted in zip(is_stale, accepted_at_first, strict=True))
    finish_round(path, administrators, saved_count, totals)


def run_at_once(path: Path, administrators: Sequence[Administrator], totals: Totals) -> None:
    """Let both load and review, then save in the same moment."""
    for administrator in administrators:
        administrator.load()
        administrator.review()
    with ThreadPoolExecutor(len(administrators)) as pool:
        statuses = list(pool.map(Administrator.save, administrators))
    totals.overwritten += statuses.count(SAVED) > 1
    results = [
        status == SAVED or retry(administrator, totals)
        for administrator, status in zip(administrators, statuses, strict=True)
    ]
    finish_round(path, administrators, sum(results), totals)


def retry(administrator: Administrator, totals: Totals) -> bool:
    """Review and save again from the page of a conflict; returns True if that is saved."""
    totals.conflicts += 1
    if administrator.form.get(f"set.{administrator.path}") != str(administrator.value):
        totals.lost_edits += 1
    return administrator.review() == REVIEWED and administrator.save() == SAVED


def finish_round(path: Path, administrators: Sequence[Administrator], saved_count: int, totals: Totals) -> None:
    """Count what is missing in the file after both have saved."""
    totals.rounds += 1
    totals.lost_edits += len(administrators) - saved_count
    crawl = load_settings(path).crawl
    if administrators[0].path != administrators[1].path:
        totals.overwritten += sum(
            getattr(crawl, administrator.path.partition(".")[2]) != administrator.value
            for administrator in administrators
        )
    totals.overwritten += COMMENTED_LINE not in path.read_text()
