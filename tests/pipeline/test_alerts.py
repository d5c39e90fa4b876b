"""Alerts: decided from facts alone, remembered in the store, told once by a real mail server and a real webhook."""

import json
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trustme

from crawler.settings import CrawlSettings
from crawler.site import Sites
from domain.alert import Alert, AlertKey
from domain.errors import PlumblineError, SettingsError
from domain.page import Origin
from domain.rising_term import RisingTerm
from domain.run import RunState, RunSummary, SiteArticles, SiteRun, SiteTotals, StageRun
from pipeline import stages
from pipeline.alerts.alert_history import ENDED_ALERTS_FILE, read_ended_alerts, record_ended_alerts
from pipeline.alerts.channels import DeliveryError, MailChannel, WebhookChannel, configured_channels
from pipeline.alerts.inputs import is_crawled
from pipeline.alerts.message import AlertNotification, message_lines, message_subject, pending_notification
from pipeline.alerts.rules import ALERT_KINDS, SECONDS_PER_DAY, AlertInputs, SiteInputs, evaluate_rules
from pipeline.alerts.service import evaluate_and_send, notify_operator, send_test_alert
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import Settings, build_settings
from search_ui.i18n import LANGUAGES, has_name
from tests.builders import mute, operate
from tests.crash_harness import LocalVertical
from tests.mail_server import Hook, Mailbox, open_hook, open_mail_server
from tests.web_fixture import Answer, Site, page

NOW = 1_800_000_000.0
GOOD = {"fetched": 5, "unchanged": 40}


def run(number: int, crawl: Mapping[str, int], extract: Mapping[str, int] | None = None) -> SiteRun:
    return SiteRun(number, NOW - (100 - number) * SECONDS_PER_DAY, crawl, extract or {})


def site(*newest_first: SiteRun, articles: SiteArticles | None = None) -> SiteInputs:
    return SiteInputs("news.example", newest_first, articles)


def decided(*sites: SiteInputs, **more: Any) -> list[Alert]:
    return evaluate_rules(AlertInputs(NOW, more.pop("failed_run", None), more.pop("missed_at", None), sites, 7, **more))


def kinds(*sites: SiteInputs, **more: Any) -> list[str]:
    return [one.key.kind for one in decided(*sites, **more)]


# -- decisions


def test_a_run_that_failed_and_a_night_that_was_missed() -> None:
    failed_run = RunSummary(NOW - SECONDS_PER_DAY, None, RunState.FAILED, (), "crawl", "disk full")
    found = decided(failed_run=failed_run, missed_at=NOW)
    assert [one.key for one in found] == [AlertKey("run_failed"), AlertKey("night_missed")]
    assert (found[0].message_values["stage"], found[0].message_values["error"]) == ("crawl", "disk full")
    assert decided() == []


@pytest.mark.parametrize(
    ("now", "before", "wanted"),
    [
        ({"unreachable": 1}, GOOD, ["site_stopped"]),
        ({"http_error": 3}, GOOD, ["site_stopped"]),
        ({"blocked": 9, "fetched": 2}, GOOD, ["site_stopped"]),
        ({"gone": 2}, GOOD, []),
        ({"timed_out": 9, "unchanged": 1}, GOOD, []),
        ({"unreachable": 9}, {"unreachable": 9}, ["no_article"]),
        ({"needs_login": 4, "fetched": 1}, GOOD, ["needs_login"]),
        ({"needs_login": 4, "fetched": 5}, GOOD, []),
        ({"duplicate": 1}, {"duplicate": 1}, []),
        ({"certificate": 2}, GOOD, ["certificate"]),
        ({"certificate": 2, "fetched": 9}, GOOD, []),
        ({"robots_forbidden": 1}, GOOD, ["robots"]),
        ({"robots_unavailable": 4}, GOOD, ["robots"]),
        ({"robots_forbidden": 30, "fetched": 8}, GOOD, ["robots"]),
        ({"robots_forbidden": 5, "fetched": 30}, GOOD, []),
        ({"robots_forbidden": 30, "fetched": 8}, {"robots_forbidden": 28, "fetched": 8}, []),
    ],
)
def test_a_site_that_gives_nothing_any_more(now: dict[str, int], before: dict[str, int], wanted: list[str]) -> None:
    assert kinds(site(run(9, now), run(8, before))) == wanted


def test_a_site_that_never_worked_or_hardly_works_is_an_alert_after_its_first_run() -> None:
    assert kinds(SiteInputs("new.example", ())) == [], "not crawled yet"
    assert kinds(site(run(9, {"unreachable": 3}))) == ["no_article"]
    assert kinds(site(run(9, {"needs_login": 3}))) == ["needs_login"]
    one_page = site(run(9, {"fetched": 1, "duplicate": 30}, {"no_body": 1}))
    [alert] = decided(one_page)
    assert (alert.key.kind, alert.message_values["reason"], alert.message_values["n"]) == (
        "no_article",
        "duplicate",
        30,
    )
    articles = SiteArticles(1, NOW, 1)
    totals = SiteTotals("news.example", "http://news.example/", 31, 0, 1, NOW, {})
    assert kinds(replace(one_page, articles=articles, totals=totals)) == ["few_articles"]
    assert kinds(replace(one_page, articles=articles, totals=replace(totals, due_count=16))) == [], "not done yet"
    assert kinds(replace(one_page, articles=articles, totals=replace(totals, article_count=2))) == []


def test_the_alerts_of_a_site_end_when_it_is_paused_or_removed() -> None:
    def crawl(**values: Any) -> CrawlSettings:
        return CrawlSettings(sites=Sites.parse([{"urls": ["http://a.test/"], **values}]))

    assert is_crawled(crawl(), "a.test") and is_crawled(crawl(), "www.a.test")
    assert not is_crawled(crawl(paused=True), "a.test") and not is_crawled(crawl(), "removed.test")
    assert is_crawled(crawl(scope=["a.test/oil/"]), "a.test")


def test_a_site_that_is_down_for_weeks_stays_one_alert() -> None:
    down = [run(number, {"unreachable": 1}) for number in range(40, 8, -1)]
    assert kinds(site(*down, run(8, GOOD))) == ["site_stopped"]
    assert kinds(site(run(41, GOOD), *down, run(8, GOOD))) == []


READ_WELL = {"extracted": 38, "no_body": 2}


@pytest.mark.parametrize(
    ("now", "before", "wanted"),
    [
        ({"extracted": 10, "no_body": 10}, READ_WELL, ["template"]),
        ({"extracted": 10, "suspect_body": 6}, READ_WELL, ["template"]),
        ({"extracted": 19, "no_body": 1}, READ_WELL, []),
        ({"extracted": 1, "no_body": 6}, READ_WELL, []),
        ({"extracted": 10, "no_body": 12}, {"extracted": 20, "no_body": 20}, []),
        ({"list_page": 30, "extracted": 8}, READ_WELL, []),
    ],
    ids=["none found", "found in part", "as ever", "too few", "always bad", "lists are no articles"],
)
def test_a_new_template(now: dict[str, int], before: dict[str, int], wanted: list[str]) -> None:
    assert kinds(site(run(9, GOOD, now), run(8, GOOD, before))) == wanted


def test_what_is_wrong_never_becomes_usual() -> None:
    """The nights after a template change are compared with those before it, not with each other; so is robots.txt."""
    bad, shut = {"extracted": 2, "no_body": 18}, {"robots_forbidden": 30, "fetched": 8}
    for now, earlier in ((run(9, GOOD, bad), run(8, GOOD, READ_WELL)), (run(9, shut), run(8, GOOD))):
        [first] = decided(site(now, earlier))
        known = {first.key: first}
        nights = [replace(now, run_id=number) for number in range(20, 9, -1)]
        assert [one.key for one in decided(site(*nights, now, earlier), firing=known)] == [first.key]
        over = replace(earlier, run_id=30)
        assert decided(site(over, *nights, now, earlier), firing=known) == []


def test_a_night_with_too_few_pages_does_not_end_the_alert_of_a_template() -> None:
    [first] = decided(site(run(9, GOOD, {"extracted": 2, "no_body": 18}), run(8, GOOD, READ_WELL)))
    few = site(run(10, GOOD, {"extracted": 2}), run(9, GOOD, {"no_body": 18}), run(8, GOOD, READ_WELL))
    assert [one.key.kind for one in decided(few, firing={first.key: first})] == ["template"]


def test_a_site_that_needs_javascript_has_no_new_template() -> None:
    now, before = run(9, GOOD, {"needs_scripts": 20}), run(8, GOOD, READ_WELL)
    assert kinds(site(now, before)) == ["template"]
    [alert] = decided(site(now, before), javascript_pages={"news.example": 20, "other.example": 3})
    assert (alert.key, alert.message_values["n"]) == (AlertKey("needs_javascript", "news.example"), 20)


@pytest.mark.parametrize(
    ("silent", "days", "wanted"), [(8.0, 5, ["nothing_new"]), (6.0, 5, []), (8.0, 2, [])], ids=["", "not yet", "never"]
)
def test_a_site_that_has_nothing_new(silent: float, days: int, wanted: list[str]) -> None:
    had = SiteArticles(50, NOW - silent * SECONDS_PER_DAY, days)
    assert kinds(site(replace(run(9, GOOD), started_at=NOW - 60), run(8, GOOD), articles=had)) == wanted
    assert (
        kinds(site(replace(run(9, GOOD), started_at=had.newest_found_at + 60), articles=had)) == []
    )  # not asked since


def test_a_site_that_is_shut_is_not_told_to_be_silent_as_well() -> None:
    had = SiteArticles(50, NOW - 9 * SECONDS_PER_DAY, 9)
    assert kinds(site(replace(run(9, {"unreachable": 1}), started_at=NOW), run(8, GOOD), articles=had)) == [
        "site_stopped"
    ]


def test_terms_that_rise_since_one_day_are_one_alert_without_an_end() -> None:
    rising = [RisingTerm("台风", "2024-05-19", 24, 0), RisingTerm("救援", "2024-05-19", 9, 1)]
    alerts = decided(rising_terms=[*rising, RisingTerm("页岩气", "2024-05-17", 8, 0)])
    assert [(one.key.subject, one.message_values["n"]) for one in alerts] == [("2024-05-17", 1), ("2024-05-19", 2)]
    assert message_lines(AlertNotification(alerts), "en") == [
        "Since 2024-05-17, 1 term suddenly occurs in many more documents: 页岩气",
        "Since 2024-05-19, 2 terms suddenly occur in many more documents: 台风, 救援",
    ]
    assert not pending_notification([], {alerts[0].key: {}})


# -- words


def test_each_kind_has_words_in_each_language() -> None:
    [stopped] = decided(site(run(9, {"unreachable": 2}), run(8, GOOD)))
    assert message_lines(AlertNotification([stopped]), "zh") == [
        "news.example：最近一次任务几乎没有抓取到网页。主要原因：无法连接（2 次）。"
    ]
    assert message_lines(AlertNotification((), [stopped]), "en")[0].startswith(
        "Resolved: news.example: hardly any page could be fetched"
    )
    for kind in ALERT_KINDS:
        assert has_name("alert", kind), kind
    assert set(LANGUAGES) == {"zh", "en"}


def test_a_hostile_name_breaks_no_header() -> None:
    evil = Alert(AlertKey("run_failed"), {"time": "x", "stage": "", "error": "a\r\nBcc: everybody@example.org\n"})
    assert "\n" not in message_subject(AlertNotification([evil]), "Gas", "en") and "\r" not in message_subject(
        AlertNotification([evil]), "Gas", "en"
    )


def test_news_is_what_a_channel_does_not_know() -> None:
    one, two = Alert(AlertKey("robots", "a")), Alert(AlertKey("robots", "b"))
    assert pending_notification([one, two], {one.key: {}}) == AlertNotification((two,), ())
    assert pending_notification([], {one.key: {"n": 1}}) == AlertNotification((), (Alert(one.key, {"n": 1}),))
    assert not pending_notification([one], {one.key: {}})


# -- by mail and webhook


@pytest.fixture(scope="module")
def mail_server() -> Iterator[tuple[str, Mailbox]]:
    with open_mail_server() as server:
        yield server


@pytest.fixture(scope="module")
def hook() -> Iterator[Hook]:
    with open_hook() as server:
        yield server


def settings(folder: Path, **alerts: Any) -> Settings:
    return build_settings({"vertical": {"name": "Gas"}, "alerts": alerts}, folder)


def fail_a_run(engine: Engine) -> None:
    runs = engine.store.runs
    runs.finish(runs.start("run"), [StageRun("crawl", state=RunState.FAILED, error="disk full")])


def test_each_alert_is_told_once_with_the_all_clear(tmp_path: Path, mail_server: Any, hook: Hook) -> None:
    place, mailbox = mail_server
    mailbox.mails.clear()  # what other tests got
    hook.posted.clear()
    url = f"http://127.0.0.1:{hook.server_port}/T0/s3cret"
    wanted = settings(tmp_path, mail_to=["o@x.example"], smtp=place, webhook=url, inside_hosts=["127.0.0.1"])
    with Engine(wanted, NullProgress()) as engine:
        fail_a_run(engine)
        assert evaluate_and_send(engine) == [] and evaluate_and_send(engine) == []
        fail_a_run(engine)  # the same trouble
        assert evaluate_and_send(engine) == []
    with Engine(wanted, NullProgress()) as engine:  # another process
        assert [one.key.kind for one in engine.store.alerts.firing()] == ["run_failed"]
        engine.store.runs.finish(engine.store.runs.start("run"), [StageRun("crawl")])
        assert evaluate_and_send(engine) == [] and evaluate_and_send(engine) == []
        assert engine.store.alerts.firing() == []
    first, second = mailbox.mails[-2:]
    assert len(mailbox.mails) == 2 and len(hook.posted) == 2
    assert (first["To"], first["From"], first["Auto-Submitted"]) == ("o@x.example", "o@x.example", "auto-generated")
    assert "failed in the “Crawl” stage: disk full" in first.get_content() and first["Subject"].startswith(
        "Gas: Run of"
    )
    assert second["Subject"].startswith("Gas: Resolved: Run of")
    assert [one["alerts"][0]["state"] for one in hook.posted] == ["firing", "resolved"]
    assert hook.posted[0]["path"] == "/T0/s3cret" and "disk full" in hook.posted[0]["text"]


def test_who_could_not_be_told_is_told_the_next_time_and_others_not_again(
    tmp_path: Path, mail_server: Any, hook: Hook
) -> None:
    place, mailbox = mail_server
    mails, posts = len(mailbox.mails), len(hook.posted)
    url = f"http://127.0.0.1:{hook.server_port}/T0/s3cret"
    wanted = settings(tmp_path, mail_to=["o@x.example"], smtp=place, webhook=url, inside_hosts=["127.0.0.1"])
    with Engine(wanted, NullProgress()) as engine:
        fail_a_run(engine)
        mailbox.refuses, hook.status = "451 later", 302
        faults = evaluate_and_send(engine)
        assert len(faults) == 2 and "451 later" in faults[0] and "returned status 302" in faults[1]
        assert all("s3cret" not in fault for fault in faults)
        mailbox.refuses, hook.status = "", 204
        assert evaluate_and_send(engine) == []
    assert len(mailbox.mails) == mails + 1 and len(hook.posted) == posts + 2


def test_a_muted_alert_is_told_when_its_mute_ends(tmp_path: Path, hook: Hook) -> None:
    url = f"http://127.0.0.1:{hook.server_port}/T0/s3cret"
    hook.posted.clear()
    with Engine(settings(tmp_path, webhook=url, inside_hosts=["127.0.0.1"]), NullProgress()) as engine:
        store, key = engine.store, AlertKey("run_failed")
        fail_a_run(engine)
        mute(store, key)
        assert evaluate_and_send(engine) == [] and hook.posted == []
        assert [one.key for one in engine.store.alerts.firing()] == [key]
        operate(store, "alert_unmute", kind="run_failed", subject="")
        assert evaluate_and_send(engine) == []
        mute(store, key)
        engine.store.runs.finish(engine.store.runs.start("run"), [StageRun("crawl")])
        assert evaluate_and_send(engine) == []
        assert [one["alerts"][0]["state"] for one in hook.posted] == ["firing"]
        operate(store, "alert_unmute", kind="run_failed", subject="")
        assert evaluate_and_send(engine) == []
    assert [one["alerts"][0]["state"] for one in hook.posted] == ["firing", "resolved"]


def test_ended_alerts_are_listed_newest_first(tmp_path: Path) -> None:
    with Engine(settings(tmp_path), NullProgress()) as engine:
        for error in ("disk full", "no memory"):
            runs = engine.store.runs
            runs.finish(runs.start("run"), [StageRun("crawl", state=RunState.FAILED, error=error)])
            evaluate_and_send(engine)
            runs.finish(runs.start("run"), [StageRun("crawl")])
            record_ended_alerts(engine, set())  # killed between file and store
            evaluate_and_send(engine)
        ended = read_ended_alerts(engine.settings.data_dir)
        assert [one.alert.message_values["error"] for one in ended] == ["no memory", "disk full"]
        assert all(one.ended_at >= one.alert.firing_since > 0 for one in ended)
        assert (
            operate(engine.store, "alert_mute", kind="run_failed", subject="", period="ever") is None
        )  # does not fire
        (tmp_path / "data" / ENDED_ALERTS_FILE).write_text('damaged\n{"kind": 1}\n')
        assert read_ended_alerts(engine.settings.data_dir) == []


def test_a_password_is_in_no_message(
    tmp_path: Path, mail_server: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    place, mailbox = mail_server
    (tmp_path / "password").write_text("s3cret pass\n")
    wanted = settings(tmp_path, mail_to=["o@x.example"], smtp=place, smtp_user="plumb", smtp_password_file="password")
    MailChannel(wanted).send(AlertNotification([Alert(AlertKey("test"))]))
    assert "Alerts are being delivered" in mailbox.mails[-1].get_content()
    monkeypatch.setenv("PLUMB_SMTP_PASSWORD", "wr0ng pass")
    with Engine(wanted, NullProgress()) as engine, pytest.raises(DeliveryError) as refused:
        MailChannel(wanted).send(AlertNotification([Alert(AlertKey("test"))]))
        fail_a_run(engine)
        notify_operator(engine)
    assert "535" in str(refused.value)
    said = f"{refused.value} {caplog.text} {wanted}"
    assert "wr0ng" not in said and "s3cret" not in said
    monkeypatch.delenv("PLUMB_SMTP_PASSWORD")
    (tmp_path / "password").write_text("x" * 5000)
    with pytest.raises(SettingsError, match="more than 4096 characters"):
        MailChannel(wanted).send(AlertNotification())
    (tmp_path / "password").unlink()
    with pytest.raises(SettingsError, match=r"cannot read alerts\.smtp_password_file = 'password'"):
        MailChannel(wanted).send(AlertNotification())


def test_a_channel_that_fails_in_any_way_does_not_stop_the_others(tmp_path: Path, mail_server: Any) -> None:
    place, mailbox = mail_server
    alerts = {"mail_to": ["o@x.example"], "smtp": place, "webhook": "http://[fd00::1/s3cret"}
    before = len(mailbox.mails)
    with Engine(build_settings({"alerts": alerts}, tmp_path), NullProgress()) as engine:
        fail_a_run(engine)
        tests = {test.channel: test.error for test in send_test_alert(engine.settings)}
        [error] = evaluate_and_send(engine)
    assert tests == {"mail": "", "webhook": "ValueError"} and "s3cret" not in error and len(mailbox.mails) == before + 2


def test_a_webhook_reaches_no_inside_address(tmp_path: Path, hook: Hook) -> None:
    posts = len(hook.posted)
    for url in (f"http://127.0.0.1:{hook.server_port}/x", f"http://a.localhost:{hook.server_port}/x"):
        with pytest.raises(DeliveryError, match=r"add it to alerts\.inside_hosts"):
            WebhookChannel(settings(tmp_path, webhook=url)).send(AlertNotification([Alert(AlertKey("test"))]))
    assert len(hook.posted) == posts


def test_a_server_that_drips_ends_when_the_time_is_up(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        stop = threading.Event()

        def drip() -> None:
            connection, _ = listening.accept()
            with connection:
                while not stop.wait(0.02):
                    connection.send(b"2")

        threading.Thread(target=drip, daemon=True).start()
        place = f"127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(DeliveryError, match=r"within 0\.3 s"):
            MailChannel(settings(tmp_path, mail_to=["o@x.example"], smtp=place, seconds=0.3)).send(AlertNotification())
        stop.set()


@pytest.mark.parametrize(
    "alerts",
    [
        {"smtp": "nowhere"},
        {"mail_to": ["o@x.example\nBcc: a@b"]},
        {"webhook": "file:///etc/passwd"},
        {"language": "fr"},
    ],
)
def test_settings_that_cannot_be_followed_are_refused(tmp_path: Path, alerts: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        settings(tmp_path, **alerts)


def test_nobody_to_tell_is_no_fault(tmp_path: Path) -> None:
    with Engine(settings(tmp_path), NullProgress()) as engine:
        fail_a_run(engine)
        assert configured_channels(engine.settings) == [] and evaluate_and_send(engine) == []
        assert [one.key.kind for one in engine.store.alerts.firing()] == ["run_failed"]


# -- by real crawls


def crawled(engine: Engine) -> list[str]:
    """The alerts after a crawl, without that of a run which failed since it reached no seed."""
    with suppress(PlumblineError):
        stages.run(engine, last_stage="crawl")
    assert evaluate_and_send(engine) == []
    return [one.key.kind for one in engine.store.alerts.firing() if one.key.kind != "run_failed"]


def forget_robots(engine: Engine, origin: Origin) -> None:
    """As if a day had passed."""
    stored = engine.store.frontier.find_robots(origin)
    assert stored is not None
    engine.store.frontier.save_robots(replace(stored, fetched_at=stored.fetched_at - 2 * SECONDS_PER_DAY))


def test_a_site_that_shuts_us_out_by_robots_opens_again_and_goes_down(tmp_path: Path) -> None:
    site = Site({"/": page("/1.html"), "/1.html": "text", "/robots.txt": Answer(200, b"User-agent: *\nAllow: /\n")})
    crawl = {"seeds": [site.url()], "inside_hosts": [site.host], "delay": 0.0, "sitemaps": False}
    with Engine(build_settings({"crawl": crawl}, tmp_path), NullProgress()) as engine:
        with site:
            assert crawled(engine) == []
            site.pages["/robots.txt"] = Answer(200, b"User-agent: *\nDisallow: /\n")
            forget_robots(engine, Origin(site.url("")))
            assert crawled(engine) == ["robots"] and crawled(engine) == ["robots"]
            site.pages["/robots.txt"] = Answer(404)
            forget_robots(engine, Origin(site.url("")))
            assert crawled(engine) == []
        assert crawled(engine) == ["site_stopped"]
        [stopped] = [one for one in engine.store.alerts.firing() if one.key.kind == "site_stopped"]
        assert stopped.key.subject == site.host and stopped.message_values["reason"] == "unreachable"


def test_a_certificate_that_is_no_longer_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, trusted, tls = trustme.CA(), tmp_path / "authorities.pem", ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ours.issue_cert("127.0.0.1").configure_cert(tls)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    with Site({"/": page("/1.html"), "/1.html": "text"}, tls) as site:
        crawl = {"seeds": [f"https://{site.host}/"], "inside_hosts": [site.host], "delay": 0.0, "sitemaps": False}
        with Engine(build_settings({"crawl": crawl}, tmp_path), NullProgress()) as engine:
            for authority, wanted in ((ours, []), (trustme.CA(), ["certificate"]), (ours, [])):
                authority.cert_pem.write_to_path(str(trusted))
                assert crawled(engine) == wanted


def test_the_command_tells_of_a_run_that_failed(tmp_path: Path, mail_server: Any, hook: Hook) -> None:
    """By `plumb run` itself, once; `plumb alerts` shows it; a test goes out by all channels; secrets stay secret."""
    place, mailbox = mail_server
    mails, posts = len(mailbox.mails), len(hook.posted)
    alerts = {"mail_to": ["o@x.example"], "smtp": place, "inside_hosts": ["127.0.0.1"], "language": "zh"}
    crawl = {"seeds": ["http://127.0.0.1:9/"], "inside_hosts": ["127.0.0.1:9"]}
    vertical = LocalVertical(tmp_path / "v").write({"alerts": alerts, "crawl": crawl})
    secret = {"PLUMB_ALERTS_WEBHOOK": f"http://127.0.0.1:{hook.server_port}/T0/s3cret"}
    try:
        for _ in range(2):
            assert vertical.plumb("run", "--until", "crawl", environment=secret).status == 1
        assert (len(mailbox.mails), len(hook.posted)) == (mails + 1, posts + 1)
        assert "在“抓取”阶段失败：所有起始网址" in mailbox.mails[-1].get_content()
        shown = vertical.plumb("alerts", "--json", environment=secret)
        assert [one["kind"] for one in json.loads(shown.out)] == ["run_failed", "no_article"]
        tested = vertical.plumb("alerts", "--test", environment=secret)
        assert tested.status == 0 and "mail: sent in" in tested.out and "webhook: sent in" in tested.out
        assert hook.posted[-1]["alerts"][0]["kind"] == "test" and "告警可以正常送达" in mailbox.mails[-1].get_content()
        hook.status = 500
        refused = vertical.plumb("alerts", "--test", environment=secret)
        assert refused.status == 1 and refused.complaint == "plumb: the webhook at 127.0.0.1 returned status 500"
        hook.status = 204
        assert "s3cret" not in vertical.log() + refused.err + tested.out + shown.out
        nobody = LocalVertical(tmp_path / "w").write({"crawl": crawl}).plumb("alerts", "--test")
        assert nobody.complaint == "plumb: no alert channel configured: set alerts.mail_to or alerts.webhook"
    finally:
        vertical.end()
