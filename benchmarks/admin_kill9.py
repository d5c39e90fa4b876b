"""Set `kill9` of `make bench-admin`: SIGKILL to the search site while it performs actions.

A client sends actions of all kinds, one after the other. At a random moment all processes of the site are killed.
Afterwards each action must be done or not done: its effect and its record together, also in the settings file, which is
not in the store.
"""

import hashlib
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from random import Random

import requests

from benchmarks.admin_site import Client, open_engine, write_config
from benchmarks.results import OURS, Figure
from crawler.settings import CrawlSettings
from docstore.reports.alert_mutes import MUTE_ACTION, UNMUTE_ACTION
from docstore.takedowns import RESTORE_ACTION, TAKEDOWN_ACTION
from domain.account import Role
from domain.administration import AdminAction, HistoryFilter
from domain.alert import Alert, AlertKey
from domain.errors import PlumblineError
from domain.frontier import NewUrl, UrlKind
from domain.page import Host
from domain.term import Term, TermStatus
from pipeline.engine import Engine
from pipeline.search_site.serve import SearchSite
from pipeline.settings import load_settings
from pipeline.site_admin.history import StoreHistory
from pipeline.site_admin.settings_editor import CHANGE_ACTION
from pipeline.site_admin.sites import PAUSE_ACTION, RESUME_ACTION

KILLS, FEW_KILLS = 25, 2
MAX_ACTIONS_BEFORE_KILL = 20
MAX_START_FAILURES = 5
SEED = 7
DONE_STATUSES = (303, 404)  # 404: the page was not taken down
SITES = tuple(f"site{number}.example" for number in range(40))
TERMS = tuple(f"页岩{number}号井" for number in range(200))

Step = tuple[str, Mapping[str, str]]


def measure_kill9(few: bool) -> Sequence[Figure]:
    """Kill the site many times; returns the numbers of kills, finished actions and half-done actions.

    A start that takes too long on a busy machine is repeated, at most MAX_START_FAILURES times.
    """
    random, kill_count, finished_count, half_done, failure_count = Random(SEED), 0, 0, list[str](), 0
    with tempfile.TemporaryDirectory() as folder, open_engine(write_config(Path(folder))) as engine:
        fill(engine)
        while kill_count < (FEW_KILLS if few else KILLS):
            try:
                finished_count += act_until_killed(engine, random)
            except PlumblineError:
                failure_count += 1
                if failure_count > MAX_START_FAILURES:
                    raise
                continue
            kill_count += 1
            problems = find_half_done(engine)
            half_done += problems
            for problem in problems:
                print(problem)
    return [
        Figure("kill9", OURS, "kills", kill_count),
        Figure("kill9", OURS, "finished_actions", finished_count),
        Figure("kill9", OURS, "half_done", len(half_done)),
    ]


def fill(engine: Engine) -> None:
    """Write alerts, pages and candidate terms."""
    engine.store.alerts.replace_firing(
        [Alert(AlertKey("site_stopped", host), {"host": host, "reason": "timed_out", "n": 3}) for host in SITES]
    )
    engine.store.frontier.add_urls([NewUrl(f"https://{host}/", Host(host), 0, 0, UrlKind.SEED, 0.0) for host in SITES])
    engine.store.lexicons.replace_candidates([Term(text, 9.0, 5, 2) for text in TERMS])


def act_until_killed(engine: Engine, random: Random) -> int:
    """Serve the site and send actions until all its processes are killed; returns the number of finished actions.

    The kill comes at a random moment of a random action, however long actions take.
    """
    with SearchSite(engine) as site:
        client, finished_count, seconds = Client(site.url, Role.OPERATOR), 0, 0.0
        last_count = random.randrange(1, MAX_ACTIONS_BEFORE_KILL)
        with suppress(requests.RequestException):  # the server is dead
            for path, form in iter_steps(engine, random):
                if finished_count == last_count:
                    threading.Timer(random.uniform(0.0, seconds), kill_server, [site]).start()
                started = time.monotonic()
                response = client.send("POST", path, form)
                if response.status_code not in DONE_STATUSES:
                    raise RuntimeError(f"{path} answered {response.status_code}")
                finished_count, seconds = finished_count + 1, time.monotonic() - started
    return finished_count


def kill_server(site: SearchSite) -> None:
    """Kill all processes of the site, which are one process group."""
    server = site._server
    if server is not None:
        os.killpg(server.pid, signal.SIGKILL)


def iter_steps(engine: Engine, random: Random) -> Iterator[Step]:
    """Yield actions of all kinds in turn, without end, beginning with a random kind."""
    makers: Sequence[Callable[[Engine, Random], Step]] = (
        mute_step, takedown_step, pause_step, setting_step, decision_step,
        unmute_step, restore_step, resume_step, undo_step,
    )  # fmt: skip
    first = random.randrange(len(makers))
    for make_step in cycle([*makers[first:], *makers[:first]]):
        yield make_step(engine, random)


def mute_step(engine: Engine, random: Random) -> Step:
    """Mute an alert."""
    return "/admin/alerts/mute", {"kind": "site_stopped", "subject": random.choice(SITES), "period": "ever"}


def unmute_step(engine: Engine, random: Random) -> Step:
    """Unmute an alert, which may not be muted."""
    return "/admin/alerts/unmute", {"kind": "site_stopped", "subject": random.choice(SITES)}


def takedown_step(engine: Engine, random: Random) -> Step:
    """Take a page down."""
    return "/admin/takedowns", {"url": f"https://{random.choice(SITES)}/", "reason": "test"}


def restore_step(engine: Engine, random: Random) -> Step:
    """Undo a takedown, which may not exist."""
    return "/admin/takedowns/undo", {"url": f"https://{random.choice(SITES)}/"}


def pause_step(engine: Engine, random: Random) -> Step:
    """Pause a site."""
    return f"/admin/sites/{random.choice(SITES)}/pause", {}


def resume_step(engine: Engine, random: Random) -> Step:
    """Resume a site, which may not be paused."""
    return f"/admin/sites/{random.choice(SITES)}/resume", {}


def setting_step(engine: Engine, random: Random) -> Step:
    """Change a setting."""
    path = engine.settings.folder / "vertical.toml"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return "/admin/settings/save", {"digest": digest, "set.crawl.threads": str(random.randrange(1, 64))}


def decision_step(engine: Engine, random: Random) -> Step:
    """Accept or reject a term."""
    return "/admin/lexicon/decide", {
        "term": random.choice(TERMS), "decision": random.choice(("accepted", "rejected")), "status": "all",
    }  # fmt: skip


def undo_step(engine: Engine, random: Random) -> Step:
    """Undo the newest action."""
    newest = engine.store.actions.find(limit=1)
    return "/admin/history/undo", {"source": "action", "entry": str(newest[0].action_id if newest else 1)}


def find_half_done(engine: Engine) -> list[str]:
    """Return what is there without its record, or recorded without its effect."""
    StoreHistory(engine).find(HistoryFilter(), 0, 1)  # as every page of the history, it records what was interrupted
    actions = engine.store.actions.find(limit=1_000_000)
    return [
        *wrong_mutes(engine, actions),
        *wrong_takedowns(engine, actions),
        *wrong_settings(engine, actions),
        *wrong_decisions(engine),
        *(f"damaged rows of {table}: {keys}" for table, keys in engine.store.integrity.damaged_rows().items()),
        *engine.store.integrity.sqlite_faults(),
    ]


def newest_by_subject(actions: Sequence[AdminAction], codes: Sequence[str]) -> dict[str, AdminAction]:
    """Return the newest action with one of these codes for each subject; `actions` are newest first."""
    newest: dict[str, AdminAction] = {}
    for action in actions:
        if action.action in codes:
            newest.setdefault(action.subject, action)
    return newest


def wrong_mutes(engine: Engine, actions: Sequence[AdminAction]) -> Iterator[str]:
    """Yield alerts whose mute and newest action differ."""
    muted = {mute.key.subject for mute in engine.store.alert_mutes.active()}
    newest = newest_by_subject(actions, (MUTE_ACTION, UNMUTE_ACTION))
    recorded = {subject for subject, action in newest.items() if action.action == MUTE_ACTION}
    yield from (f"mute of {subject} is half done" for subject in muted ^ recorded)


def wrong_takedowns(engine: Engine, actions: Sequence[AdminAction]) -> Iterator[str]:
    """Yield takedowns whose addresses and newest action differ, and pages that are due although they are taken down."""
    takedowns = engine.store.takedowns.list_all()
    newest = newest_by_subject(actions, (TAKEDOWN_ACTION, RESTORE_ACTION))
    recorded: dict[str, int] = {}
    for action in newest.values():
        if action.action == TAKEDOWN_ACTION:
            urls = action.details["urls"]
            recorded |= {str(url): action.action_id for url in urls} if isinstance(urls, list) else {}
            if action.undone_by is not None:
                yield f"takedown of {action.subject} is undone and in effect"
    stored = {takedown.url: takedown.action_id for takedown in takedowns}
    yield from (f"takedown of {url} is half done" for url, _ in set(stored.items()) ^ set(recorded.items()))
    due = engine.store.status.due_count(time.time())
    expected_due = len(SITES) - len({takedown.action_id for takedown in takedowns})
    if due != expected_due:
        yield f"{due} pages are due, expected {expected_due}"


def wrong_settings(engine: Engine, actions: Sequence[AdminAction]) -> Iterator[str]:
    """Yield settings whose value in the file differs from their newest record."""
    crawl = load_settings(engine.settings.folder / "vertical.toml").crawl
    change = newest_by_subject(actions, (CHANGE_ACTION,)).get("crawl.threads")
    if change is not None and (change.details.get("after") or CrawlSettings().threads) != crawl.threads:
        yield f"crawl.threads is {crawl.threads}, its newest record says {change.details.get('after')}"
    newest = newest_by_subject(actions, (PAUSE_ACTION, RESUME_ACTION))
    recorded = {host for host, action in newest.items() if action.action == PAUSE_ACTION}
    yield from (f"pause of {host} is half done" for host in recorded ^ set(crawl.paused_sites))


def wrong_decisions(engine: Engine) -> Iterator[str]:
    """Yield terms whose status differs from their newest decision."""
    status_by_text: dict[str, str] = {}
    for decision in engine.store.review_history.list_decisions(limit=1_000_000)[1]:
        for change in decision.changes:
            status_by_text.setdefault(change.text, str((change.after or {}).get("status")))
    for status in TermStatus:
        for term in engine.store.lexicons.find_terms(status, "", 0, len(TERMS))[1]:
            expected = status_by_text.get(term.text, TermStatus.CANDIDATE)
            if status != expected:
                yield f"term {term.text} is {status}, its newest decision says {expected}"
