"""Followed searches: what is new is delivered once, by a real mail server and a real webhook, from a real Solr."""

import shutil
import socket
import uuid
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from docstore.follows import FOLLOWS_FILE
from domain.follow import Follow, FollowChannel, Interval
from pipeline import stages
from pipeline.engine import Engine
from pipeline.follows import delivery
from pipeline.follows.tools import follow_operations, follow_tools
from pipeline.maintenance.backup import create_backup, create_daily_copy, find_repair_sources, restore_backup
from pipeline.maintenance.preflight import check_all
from pipeline.maintenance.repair import repair_vertical
from pipeline.operations import run_command
from pipeline.progress import NullProgress
from pipeline.runs.notifications import deliver_follows
from pipeline.settings import Settings, build_settings
from search_ui.query.results import plain_text
from search_ui.query.solr_client import SolrResponse
from search_ui.query.solr_query import Params
from search_ui.services.follow import MAX_ARTICLES, find_new_articles, follow_label, parse_followed_query
from search_ui.services.follow_links import FollowLinks
from search_ui.settings import SearchSettings
from tests.builders import save_article
from tests.mail_server import Hook, Mailbox, open_hook, open_mail_server
from tests.solr_fixture import RunningSolr

pytestmark = pytest.mark.solr

SITE = "https://search.x.example"
MAIL = Follow("", FollowChannel.MAIL, "reader@x.example", "q=页岩气", Interval.DAILY, "zh")


@pytest.fixture(scope="module")
def mail_server() -> Iterator[tuple[str, Mailbox]]:
    with open_mail_server() as server:
        yield server


@pytest.fixture
def mailbox(mail_server: tuple[str, Mailbox]) -> Mailbox:
    _, mailbox = mail_server
    mailbox.mails.clear()
    mailbox.refuses, mailbox.bounces = "", {}
    return mailbox


@pytest.fixture
def settings(tmp_path: Path, solr_node: RunningSolr, mail_server: tuple[str, Mailbox]) -> Settings:
    values: dict[str, Any] = {
        "vertical": {"name": "Gas"},
        "search": {"base_url": f"{SITE}/", "title": "油气"},
        "alerts": {"mail_from": "site@x.example", "smtp": mail_server[0], "inside_hosts": ["127.0.0.1"], "seconds": 5},
        "index": {"solr_url": solr_node.url, "collection": f"follow_{uuid.uuid4().hex[:8]}"},
        "embed": {"model": ""},
    }
    return build_settings(values, tmp_path)


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    with Engine(settings, NullProgress()) as opened:
        yield opened


def publish(engine: Engine, *numbers: int, body: str = "四川的页岩气产量增长。") -> None:
    """Save and index articles."""
    for number in numbers:
        save_article(engine.store, number, f"{body}这是第{number}篇文章，内容各不相同{number * 7919}。")
    stages.index(engine)


def wait_a_day(engine: Engine) -> None:
    """Make all follows due, as after a day."""
    with engine.follows._database.write() as connection:
        connection.exec_driver_sql("UPDATE follows SET delivered_at = delivered_at - 86400")


def urls_of(mail: Any) -> list[str]:
    return [line.strip() for line in mail.get_content().splitlines() if line.startswith("   http://a.test/")]


def test_a_mail_has_what_is_new_and_how_to_stop_it(engine: Engine, mailbox: Mailbox) -> None:
    publish(engine, 1)
    follow = follow_tools(engine).start(MAIL)
    deliver_follows(engine)
    assert mailbox.mails == [], "what was there before is not new"
    publish(engine, 2, 3)
    publish(engine, 4, body="与检索无关。")
    deliver_follows(engine)
    deliver_follows(engine)
    [mail] = mailbox.mails
    assert sorted(urls_of(mail)) == ["http://a.test/2", "http://a.test/3"]
    assert mail["Subject"] == "油气：“页岩气”有 2 篇新文章" and mail["To"] == MAIL.address
    text = mail.get_content()
    assert "1. 文章" in text and "a.test · 2024-05-01" in text and "页岩气产量增长" in text
    links = FollowLinks(delivery.load_session_key(engine))
    stop_url = SITE + links.list_path(MAIL.address, follow.follow_id)
    assert stop_url in text and SITE + links.list_path(MAIL.address) in text and f"{SITE}/search?q=" in text
    assert mail["List-Unsubscribe"] == f"<{stop_url}>"
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


def test_a_followed_search_sends_two_requests(engine: Engine) -> None:
    publish(engine, 1, 2, 3)
    search, sent = delivery.open_services(engine).search, []

    class CountingSolr:
        def select(self, params: Params) -> SolrResponse:
            sent.append(params)
            return search.solr.select(params)

    request = parse_followed_query(MAIL.query, search.settings)
    doc_ids = engine.follows.list_seen(0, delivery.mark_seen(engine))
    new = find_new_articles(replace(search, solr=CountingSolr()), request, doc_ids[:2])
    assert len(new.hits) == 2 and all("页岩气" in plain_text(hit.snippet) for hit in new.hits)
    assert len(sent) == 2, "hits, and what is shown of them: no facets, no counts, nothing twice"


@pytest.mark.always
def test_only_first_seen_articles_are_new(engine: Engine, mailbox: Mailbox) -> None:
    publish(engine, 1)
    follow_tools(engine).start(MAIL)
    publish(engine, 2)
    deliver_follows(engine)
    save_article(engine.store, 1, "四川的页岩气产量增长。重新提取的文本。")  # extracted again
    stages.index(engine)
    engine.store.change_log.enqueue_all()  # a new index
    wait_a_day(engine)
    deliver_follows(engine)
    assert len(mailbox.mails) == 1, "documents wait for the index"
    stages.index(engine)
    deliver_follows(engine)
    assert len(mailbox.mails) == 1


def test_a_weekly_follower_gets_all_of_the_week_at_once(engine: Engine, mailbox: Mailbox) -> None:
    follow = follow_tools(engine).start(replace(MAIL, interval=Interval.WEEKLY))
    for number in (1, 2):
        publish(engine, number)
        deliver_follows(engine)
    assert mailbox.mails == []
    with engine.follows._database.write() as connection:
        connection.exec_driver_sql("UPDATE follows SET created_at = created_at - 604800")
    deliver_follows(engine)
    assert sorted(urls_of(mailbox.mails[0])) == ["http://a.test/1", "http://a.test/2"]
    assert engine.follows.find(follow.follow_id).delivered_at is not None  # type: ignore[union-attr]


def test_near_duplicates_are_one_article(engine: Engine, mailbox: Mailbox) -> None:
    follow_tools(engine).start(MAIL)
    text = "四川盆地的页岩气产量今年增长了两成，气田的新井投产后日产气量达到新高。" * 8
    for number in (1, 2):
        save_article(engine.store, number, text, "页岩气产量")
    stages.index(engine)
    deliver_follows(engine)
    assert len(urls_of(mailbox.mails[0])) == 1
    save_article(engine.store, 3, text, "页岩气产量")
    stages.index(engine)
    wait_a_day(engine)
    deliver_follows(engine)
    assert len(mailbox.mails) == 1, "a copy of what was sent"


def test_what_fails_waits_and_what_bounces_is_shown(engine: Engine, mailbox: Mailbox) -> None:
    tools = follow_tools(engine)
    tools.start(MAIL)
    tools.start(replace(MAIL, address="gone@x.example"))
    mailbox.bounces = {"gone@x.example": "550 no such user"} | {
        f"full{number}@x.example": "452 mailbox is full" for number in range(4)
    }
    for number in range(4):
        tools.start(replace(MAIL, address=f"full{number}@x.example"))
    mailbox.refuses = "452 queue is full"
    publish(engine, 1)
    deliver_follows(engine)
    assert mailbox.mails == [] and tools.counts().waiting == 6
    [problem] = tools.list_problems(10)
    assert problem.address == "gone@x.example" and "550 no such user" in problem.problem
    mailbox.refuses = ""
    deliver_follows(engine)
    [mail] = mailbox.mails
    assert mail["To"] == MAIL.address and tools.counts().waiting == 5, "full mailboxes stop nobody else"
    for number in range(4):
        tools.stop(f"full{number}@x.example", "")
    mailbox.bounces = {}
    assert run_command(engine, "follow_retry", "ann", follow_id=problem.follow_id) is not None
    deliver_follows(engine)
    assert [one["To"] for one in mailbox.mails] == [MAIL.address, "gone@x.example"]
    assert run_command(engine, "follow_stop", "ann", follow_id=problem.follow_id) is not None
    assert run_command(engine, "follow_stop", "ann", follow_id=problem.follow_id) is None
    assert {operation.name for operation in follow_operations(engine)} == {"follow_retry", "follow_stop"}
    webhook = replace(MAIL, channel=FollowChannel.WEBHOOK, address="https://h.example/a@b")
    assert (MAIL.masked_address, webhook.masked_address) == ("r…@x.example", "h.example")


def test_a_webhook_that_hangs_stops_nobody(engine: Engine, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = follow_tools(engine)
    with socket.create_server(("127.0.0.1", 0)) as silent, open_hook() as hook:
        hanging = f"http://127.0.0.1:{silent.getsockname()[1]}/hook"
        engine.settings = replace(engine.settings, alerts=replace(engine.settings.alerts, seconds=0.5))
        for address in (hanging, hook.url):
            tools.start(replace(MAIL, channel=FollowChannel.WEBHOOK, address=address))
        tools.start(MAIL)
        publish(engine, 1)
        deliver_follows(engine)
        assert len(mailbox.mails) == 1 and tools.counts().waiting == 1
        check_webhook(hook)


def check_webhook(hook: Hook) -> None:
    [post] = hook.posted
    [article] = post["articles"]
    assert article["url"] == "http://a.test/1" and article["title"] == "文章1" and post["key"]
    assert "有 1 篇新文章" in post["text"]


@pytest.mark.always
def test_a_killed_delivery_goes_on(engine: Engine, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = follow_tools(engine)
    for number in range(3):
        tools.start(replace(MAIL, address=f"r{number}@x.example"))
    publish(engine, 1)
    monkeypatch.setattr(delivery, "SEND_BATCH", 2)
    record_sent = type(engine.follows).record_sent
    monkeypatch.setattr(type(engine.follows), "record_sent", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        deliver_follows(engine)
    monkeypatch.setattr(type(engine.follows), "record_sent", record_sent)
    deliver_follows(engine)
    ids = [mail["Message-ID"] for mail in mailbox.mails]
    assert len(ids) == 4 and len(set(ids)) == 3, "the mail that was not recorded has the same id"
    assert {mail["To"] for mail in mailbox.mails} == {f"r{number}@x.example" for number in range(3)}


def test_a_restored_store_sends_nothing_again(settings: Settings, engine: Engine, mailbox: Mailbox) -> None:
    (settings.folder / "plumb.toml").write_text("[vertical]\nname = 'Gas'\n")
    backups = settings.folder / "backups"
    publish(engine, 1)
    tools = follow_tools(engine)
    tools.start(MAIL)
    tools.start(replace(MAIL, address="stops@x.example"))
    backup = create_backup(settings, settings.folder / "plumb.toml", backups)
    publish(engine, 2)
    deliver_follows(engine)
    tools.stop("stops@x.example", "")
    assert len(mailbox.mails) == 2
    engine.close()
    (settings.data_dir / "store.db").rename(settings.folder / "store.old")
    for name in ("store.db-wal", "store.db-shm"):
        (settings.data_dir / name).unlink(missing_ok=True)
    shutil.rmtree(settings.data_dir / "warc")
    restore_backup(backup, settings)
    with Engine(settings, NullProgress()) as restored:
        publish(restored, 2, 3)  # crawled again, and a new one
        wait_a_day(restored)
        deliver_follows(restored)
        assert [urls_of(mail) for mail in mailbox.mails[2:]] == [["http://a.test/3"]]
        assert mailbox.mails[2]["To"] == MAIL.address
    assert f"files/{FOLLOWS_FILE}" in (backup / "manifest.json").read_text()


def test_damaged_follows_say_what_to_do_and_fail_no_run(
    engine: Engine, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    (settings.data_dir / FOLLOWS_FILE).write_bytes(b"no database" * 1000)
    deliver_follows(engine)
    assert "follows.db is damaged: stop `plumb serve`, then run `plumb check --repair`" in caplog.text


@pytest.mark.parametrize("has_copy", [True, False])
def test_damaged_follows_are_found_and_repaired(settings: Settings, has_copy: bool) -> None:
    file, opened = settings.data_dir / FOLLOWS_FILE, partial(Engine, settings, NullProgress())
    with opened() as engine:
        publish(engine, 1)
        follow_tools(engine).start(MAIL)
        if has_copy:
            create_daily_copy(settings)
    file.write_bytes(file.read_bytes()[:4096] + b"\xff" * 8192)
    faults = check_all(settings, opened, with_index=False)
    assert [(fault.component, fault.keys) for fault in faults] == [("state", (FOLLOWS_FILE,))]
    steps = list(repair_vertical(settings, opened, faults, find_repair_sources(settings.data_dir, None)))
    assert [step.is_loss for step in steps] == [not has_copy]
    assert check_all(settings, opened, with_index=False) == []
    with opened() as engine:
        assert engine.follows.counts().follows == has_copy


def test_the_name_of_a_search_has_its_filters() -> None:
    settings = SearchSettings(site_names={"news.example": "能源新闻"})
    request = parse_followed_query("q=LNG&site=news.example&from=2024", settings)
    assert follow_label(request, settings) == "LNG · 能源新闻 · 2024 –"
    request = parse_followed_query("q=LNG&-site=news.example&from=2024&to=2024", settings)
    assert follow_label(request, settings) == "LNG · -能源新闻 · 2024"
    assert MAX_ARTICLES == 100
