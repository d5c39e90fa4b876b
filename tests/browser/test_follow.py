"""Following a search in a real browser, with a real mail server."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from domain.account import Role
from indexer.embedded_solr import EmbeddedSolr, find_free_port
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from tests.browser_fixture import ACCOUNT, DemoData, Visit, follow, settings_for
from tests.mail_server import Mailbox, open_mail_server
from tests.site_fixture import PASSWORD_HASH

pytestmark = [pytest.mark.browser, pytest.mark.solr, pytest.mark.slow]


@pytest.fixture(scope="module")
def mail_server() -> Iterator[tuple[str, Mailbox]]:
    with open_mail_server() as server:
        yield server


@pytest.fixture(scope="module")
def unindexed(
    chromium: Browser,
    solr_node: EmbeddedSolr,
    demo_data: DemoData,
    tmp_path_factory: pytest.TempPathFactory,
    mail_server: tuple[str, Mailbox],
) -> Iterator[Engine]:
    """Yield a copy of the demo that can send mail."""
    folder, port = tmp_path_factory.mktemp("browser"), find_free_port()
    shutil.copytree(demo_data.data_dir, folder / "data")
    settings = settings_for(folder, demo_data.port, solr_node.url)
    search = replace(settings.search, port=port, base_url=f"http://127.0.0.1:{port}/")
    alerts = replace(settings.alerts, mail_from="site@x.example", smtp=mail_server[0])
    with Engine(replace(settings, search=search, alerts=alerts, source=None), NullProgress()) as engine:
        engine.store.accounts.create(ACCOUNT, PASSWORD_HASH, [Role.OPERATOR])
        yield engine
        engine.index.delete_all()


@pytest.mark.parametrize(
    ("locale", "width", "scripts"),
    [
        ("zh-CN", 390, True),
        pytest.param("en-US", 1280, True, marks=pytest.mark.exhaustive),
        pytest.param("en-US", 390, False, marks=pytest.mark.exhaustive),
    ],
)
@pytest.mark.always
def test_a_reader_follows_and_stops(
    visit: Visit, mail_server: tuple[str, Mailbox], locale: str, width: int, scripts: bool
) -> None:
    address = f"reader-{locale}-{width}@x.example".lower()
    page = visit(locale=locale, viewport={"width": width, "height": 800}, java_script_enabled=scripts)

    def check() -> None:
        if scripts:
            assert Axe().run(page).response["violations"] == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.goto("/search?q=水平井压裂")
    follow(page.locator("#follow"))
    expect(page.locator("#followed")).to_contain_text("水平井压裂")
    check()
    page.locator("#address").fill(address)
    page.locator("#interval").select_option("weekly")
    follow(page.locator("#address"), "Enter")
    expect(page.locator("#sent")).to_contain_text(address)
    check()
    mail = next(mail for mail in mail_server[1].mails if mail["To"] == address)
    found = re.search(r"http://127\.0\.0\.1\S+", mail.get_content())
    assert found is not None
    page.goto(found[0])
    expect(page.locator("#followed")).to_contain_text("水平井压裂")
    check()
    follow(page.locator("#start"))
    expect(page.locator("#follows li > a")).to_have_text(["水平井压裂"])
    check()
    follow(page.locator("#follows button"))
    expect(page.locator("#none")).to_be_visible()
    check()


def test_an_empty_page_offers_to_wait(visit: Visit) -> None:
    page = visit(locale="en-US")
    page.goto("/search?q=“量子水平井”")
    follow(page.locator("#nothing #follow"))
    expect(page.locator("#followed")).to_contain_text("量子水平井")
