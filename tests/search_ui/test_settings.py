"""The settings pages on a real settings file: forms, errors, the difference, saving, conflicts and secrets."""

import re
from operator import attrgetter
from pathlib import Path
from typing import get_args

import pytest
from bs4 import BeautifulSoup, Tag
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from domain.account import Role
from domain.setting import Group, setting_fields
from pipeline.settings import SECTIONS, load_settings
from pipeline.site_admin.settings_editor import SPECS
from search_ui.i18n import load_catalog, load_names, translate_message_to
from tests.builders import page_at
from tests.site_fixture import MemorySite, sign_in, site_app

TEXT = """\
# ours
[crawl]
contact = "me@a.test"  # answered by Ann
delay = 2
document_formats = ["pdf"]

[embed]
query_prefix = "query: "

[alerts]
# webhook = "https://chat.test/old-secret"
webhook = "https://chat.test/secret-hook"
apprise_urls = ["tgram://secret-token/chat"]
# apprise_urls = ["tgram://old-secret-token/chat"]

[[sites]]
urls = ["https://a.test/"]
cookies = ["session=secret-cookie"]
"""


class Site:
    """A site with a settings file, and an account that is signed in."""

    def __init__(self, folder: Path, role: Role = Role.OPERATOR, flags: dict[str, str] | None = None) -> None:
        self.path = folder / "v.toml"
        if not self.path.exists():
            self.path.write_text(TEXT)
        self.backend = MemorySite(settings=load_settings(self.path, flags))
        self.client: FlaskClient = site_app(site=self.backend, roles={"someone": role}).test_client()
        self.token = sign_in(self.client, "someone")

    def page(self, language: str = "en") -> BeautifulSoup:
        return page_at(self.client, f"/admin/settings?lang={language}")

    def send(self, found: BeautifulSoup, step: str, language: str = "en", **changes: str) -> TestResponse:
        """Send the form of a page as a browser does, with changed fields (`crawl__delay="3"`)."""
        [form] = found.select("#settings-form, #save-form")
        fields = {str(field["name"]): value_of(field) for field in form.select("[name]") if not is_unchecked(field)}
        assert changes.keys() <= {name.removeprefix("set.").replace(".", "__") for name in fields} | {"clear"}
        if cleared := changes.pop("clear", ""):
            fields[f"clear.{cleared}"] = "on"
        fields |= {f"set.{name.replace('__', '.')}": value for name, value in changes.items()}
        return self.client.post(f"/admin/settings/{step}?lang={language}", data=fields)


def value_of(field: Tag) -> str:
    if field.name == "textarea":
        return field.text.removeprefix("\n").replace("\n", "\r\n")
    if field.name == "select":
        return str(field.select("option[selected]")[0]["value"])
    return str(field.get("value", ""))


def is_unchecked(field: Tag) -> bool:
    return field.get("type") == "checkbox" and not field.has_attr("checked")


def parsed(response: TestResponse, status: int = 200) -> BeautifulSoup:
    assert response.status_code == status, response.text
    return BeautifulSoup(response.text, "lxml")


def diff_lines(found: BeautifulSoup) -> list[str]:
    return [line.text for line in found.select("#diff .added, #diff .removed")]


def test_every_setting_is_in_one_group_and_has_a_field(tmp_path: Path) -> None:
    paths = [spec.field.path for name in get_args(Group) for spec in SPECS.values() if spec.group == name]
    known = [
        f"{name}.{field}"
        for name, section in SECTIONS.items()
        for field in map(attrgetter("name"), setting_fields(section))
    ]
    assert sorted(paths) == sorted(known) == sorted(load_names()["setting"])
    found = Site(tmp_path).page()
    ids = [str(field["id"]) for field in found.select(".setting")]
    assert ids == [f"setting-{path.replace('.', '-')}" for path in paths]
    delay = found.select_one("#setting-crawl-delay")
    assert delay is not None
    assert re.sub(r"\s+", " ", delay.text).strip() == (
        "Crawl delay crawl.delay minimum seconds between two requests to one host; see also speed_up "
        "Default: 1 · Takes effect at the next run"
    )
    assert delay.select("input[value='2']")


def test_a_change_is_shown_then_saved_and_recorded(tmp_path: Path) -> None:
    site = Site(tmp_path)
    review = parsed(site.send(site.page(), "review", crawl__delay="3.5", crawl__threads="4", search__access_log="true"))
    assert diff_lines(review) == ["-delay = 2", "+delay = 3.5", "+threads = 4", "+", "+[search]", "+access_log = true"]
    assert site.path.read_text() == TEXT
    assert site.send(review, "save").location == "/admin/settings"
    assert load_settings(site.path).crawl.threads == 4
    assert site.path.read_text().startswith(TEXT.partition("delay")[0])
    saved = site.page()
    assert "Saved 3 settings." in saved.text
    assert [path.text for path in saved.select("#restart-needed code")] == ["search.access_log"]
    actions = site.backend.store.operations.find()
    assert [(action.account, action.name, action.subject) for action in actions[1:]] == [
        ("someone", "setting_change", "crawl.delay"),
        ("someone", "setting_change", "crawl.threads"),
    ]
    assert actions[-2].after == {"before": 2, "after": 3.5}


def test_a_form_that_changes_nothing_leaves_the_file(tmp_path: Path) -> None:
    site = Site(tmp_path)
    assert site.send(site.page(), "review").location == "/admin/settings"
    assert "Nothing has changed." in site.page().text
    assert site.path.read_text() == TEXT


def test_the_default_removes_the_setting_and_lists_and_tables_have_one_line_per_entry(tmp_path: Path) -> None:
    site = Site(tmp_path)
    review = parsed(
        site.send(
            site.page(),
            "review",
            crawl__delay="1",
            crawl__document_formats="pdf\r\n\r\n docx ",
            schedule__stages="crawl = 08:00",
        )
    )
    assert diff_lines(review) == [
        "-delay = 2",
        '-document_formats = ["pdf"]',
        '+document_formats = ["pdf", "docx"]',
        "+",
        "+[schedule]",
        '+stages = {crawl = "08:00"}',
    ]


@pytest.mark.always
def test_every_error_has_a_chinese_text(tmp_path: Path) -> None:
    editor = Site(tmp_path).backend.administration.settings_reader
    digest = editor.load_form().digest
    values = ("-1", "", "a b = c", "http://", "99999999999", "é\x00")
    reviews = [editor.review({path: value}, digest) for path in SPECS for value in values]
    errors = {error for review in reviews for error in review.errors.values()}
    assert len(errors) > 90
    assert {path for review in reviews for path in review.errors} <= SPECS.keys()
    assert {error for error in errors if not re.search("[\u4e00-\u9fff]", translate_message_to("zh", error))} == set()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("crawl.threads", "many", "crawl.threads = 'many': expected a whole number"),
        ("crawl.threads", "0", "crawl.threads = 0: must be more than 0"),
        ("crawl.speed_up", "0.5", "crawl.speed_up = 0.5: must be 1 or more"),
        ("search.port", "99999", "search.port = 99999: must be 65535 or less"),
        ("schedule.at", "25:00", "schedule.at = '25:00': expected a time, for example 02:30"),
        ("schedule.stages", "crawl", "schedule.stages: expected name = value in each line"),
        ("crawl.quiet_hours", "noon", "crawl.quiet_hours must be like 08:00-18:30, not “noon”"),
        ("crawl.revisit_longest", "1", "crawl.revisit_longest is shorter than crawl.revisit_shortest: swap them"),
    ],
)
def test_an_error_is_next_to_its_field_and_what_was_entered_stays(
    tmp_path: Path, path: str, value: str, message: str
) -> None:
    site = Site(tmp_path)
    found = parsed(site.send(site.page(), "review", **{path.replace(".", "__"): value, "search__page_size": "7"}), 422)
    id = path.replace(".", "-")
    [error] = found.select(f"#setting-{id} .field-error")
    assert error.text == message
    [field] = found.select(f"[name='set.{path}']")
    assert str(error["id"]) in str(field["aria-describedby"]).split()
    assert value_of(field) == value
    assert found.select("[name='set.search.page_size'][value='7']")
    assert found.select(f"details[open] #setting-{id}")
    assert site.path.read_text() == TEXT


def test_a_change_outside_is_a_conflict_that_keeps_both_changes(tmp_path: Path) -> None:
    site = Site(tmp_path)
    review = parsed(site.send(site.page(), "review", crawl__threads="4"))
    site.path.write_text(TEXT.replace("delay = 2", "delay = 9"))
    conflict = parsed(site.send(review, "save"), 409)
    assert re.search(r"The file was changed at [\d-]+ \d\d:\d\d\.", conflict.text)
    assert conflict.select("[name='set.crawl.delay'][value='9']") and conflict.select(
        "[name='set.crawl.threads'][value='4']"
    )
    assert "In the file: 16" in " ".join(conflict.select("#setting-crawl-threads")[0].text.split())
    assert site.send(parsed(site.send(conflict, "review")), "save").status_code == 303
    settings = load_settings(site.path)
    assert (settings.crawl.delay, settings.crawl.threads) == (9, 4)


def test_back_keeps_the_changes(tmp_path: Path) -> None:
    site = Site(tmp_path)
    review = parsed(site.send(site.page(), "review", crawl__threads="4", alerts__mail_to="a@a.test\r\nb@b.test"))
    found = parsed(site.send(review, "edit"))
    assert found.select("[name='set.crawl.threads'][value='4']")
    assert found.select("[name='set.alerts.mail_to']")[0].text.split() == ["a@a.test", "b@b.test"]


def test_secrets_are_never_shown(tmp_path: Path) -> None:
    site = Site(tmp_path)
    answers = [site.page(), site.page("zh")]
    answers.append(parsed(site.send(answers[0], "review", alerts__webhook="https://chat.test/new-secret")))
    assert diff_lines(answers[2]) == ['-webhook = "(not shown)"', '+webhook = "(new value, not shown)"']
    for answer in answers:
        shown = answer.select("#diff")[0].text if answer.select("#diff") else str(answer)
        assert "secret-" not in shown and "old-secret" not in shown and "new-secret" not in shown
    assert site.send(answers[2], "save").status_code == 303
    assert load_settings(site.path).alerts.webhook == "https://chat.test/new-secret"
    assert site.backend.store.operations.find()[0].after == {}
    removal = parsed(site.send(site.page(), "review", clear="alerts.webhook"))
    assert diff_lines(removal) == ['-webhook = "(not shown)"']
    removal = parsed(site.send(site.page("zh"), "review", "zh", clear="alerts.webhook"))
    assert diff_lines(removal) == ['-webhook = "（不显示）"']
    assert site.send(removal, "save").status_code == 303
    assert load_settings(site.path).alerts.webhook == ""


@pytest.mark.parametrize(
    "lines",
    [
        'cookies = ["a.test session=secret-cookie"]\n',
        '[[sites]]\nheaders = ["A: secret-header"]\nurls = ["http://a.test/"]\n',
    ],
)
def test_secrets_beside_a_changed_line_are_not_shown(tmp_path: Path, lines: str) -> None:
    (tmp_path / "v.toml").write_text(f"[crawl]\ndelay = 2\n{lines}")
    site = Site(tmp_path)
    review = parsed(site.send(site.page(), "review", crawl__delay="3"))
    assert "not shown" in review.select("#diff")[0].text and "secret" not in str(review)


def test_an_overridden_setting_cannot_be_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUMB_CRAWL_THREADS", "5")
    site = Site(tmp_path, flags={"search.port": "9000"})
    found = site.page()
    assert not found.select("[name='set.crawl.threads'], [name='set.search.port']")
    threads, port = (found.select(f"#setting-{id}")[0].text for id in ("crawl-threads", "search-port"))
    assert "Value: 5" in threads and "environment variable PLUMB_CRAWL_THREADS" in threads
    assert "Value: 9000" in port and "option of the command" in port
    data = {"token": site.token, "digest": str(found.select("[name=digest]")[0]["value"]), "set.crawl.threads": "3"}
    parsed(site.client.post("/admin/settings/review", data=data), 422)
    assert site.path.read_text() == TEXT


def test_settings_that_name_files_folders_or_inside_hosts_are_changed_in_the_file_only(tmp_path: Path) -> None:
    site = Site(tmp_path)
    fixed = {path for path, spec in SPECS.items() if spec.field.is_file_only}
    words = re.compile(r"\b(?:folder|files? (?:that|with)|path of|hosts on a private|host:port|tcp://|Solr[A-Z]\w* *:)")
    assert {path for path, spec in SPECS.items() if words.search(spec.field.help)} <= fixed
    assert {"alerts.smtp_password_file", "crawl.inside_hosts", "store.url", "index.solr_url"} <= fixed
    page = site.page()
    digest = str(page.select("[name=digest]")[0]["value"])
    for path in fixed:
        assert (
            not page.select(f"[name='set.{path}']")
            and path in page.select(f"#setting-{path.replace('.', '-')}")[0].text
        )
        for step in ("review", "save"):
            data = {"token": site.token, "digest": digest, f"set.{path}": "/etc/passwd"}
            assert "in the settings file" in parsed(site.client.post(f"/admin/settings/{step}", data=data), 422).text
    assert site.path.read_text() == TEXT


def test_a_value_that_the_site_still_uses_is_named(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.path.write_text(TEXT + "[search]\nworkers = 20\n")
    assert "The search site still uses: 1" in " ".join(site.page().select("#setting-search-workers")[0].text.split())


def test_a_file_that_cannot_be_read_is_an_error_on_the_page(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.path.write_text("[crawl")
    found = parsed(site.client.get("/admin/settings"), 503)
    assert "is not valid TOML" in found.select("#problem")[0].text


def test_who_reads_reports_sees_the_settings_and_cannot_change_them(tmp_path: Path) -> None:
    site = Site(tmp_path, Role.REPORTS)
    found = site.page()
    assert found.select("fieldset[disabled] [name='set.crawl.delay']") and not found.select(".save-bar")
    for step in ("review", "edit", "save"):
        assert site.client.post(f"/admin/settings/{step}", data={"token": site.token}).status_code == 403


def test_chinese_help_translates_settings_that_exist() -> None:
    helps = {field.metadata["help"] for section in SECTIONS.values() for field in setting_fields(section)}
    translated = {message.id: message.string for message in load_catalog("settings.zh") if message.id}
    assert set(translated) <= helps
    assert len(translated) >= len(helps) * 0.9
    assert all(translated.values())


def test_secrets_of_sites_on_one_line_and_in_comments_are_hidden(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.path.write_text(
        'sites = [{ urls = ["https://a.test/"], headers = ["X: secret-1"] }]\n[crawl]\n'
        '# proxy = "http://u:secret-2@p"\n# headers = ["X: secret-3"]\n'
        '# headers = [\n#   "X: secret-4",\n#   "Y: secret-5",\n# ]\n'
        '# url = "postgresql://host/v?user=plumb&password=secret-6"\ndelay = 2\ncontact = "me@a.test"\n'
        '[store]\nurl = "postgresql+psycopg://host/v?user=plumb&password=secret-7"\n'
    )
    assert "secret-" not in str(site.page())
    review = parsed(site.send(site.page(), "review", crawl__delay="1"))
    assert "-delay = 2" in review.text and "secret-" not in review.text


def test_a_form_whose_shown_values_are_nested_too_deeply_is_read_without_them(tmp_path: Path) -> None:
    site = Site(tmp_path)
    data = {"token": site.token, "shown": "[" * 100_000, "digest": ""}
    assert site.client.post("/admin/settings/review", data=data).status_code == 303
