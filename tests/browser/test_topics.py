"""The topics' pages as a reviewer meets them: in a real browser, in both languages, without JavaScript, by keyboard."""

import pytest
from playwright.sync_api import expect

from docstore.frontier.focused_decisions import PageDecision
from docstore.topics import Topic, TopicSeed, TopicState, TopicTerm, TopicTermClass
from focused.topic.file import TopicFiles
from tests.browser_fixture import Vertical, Visit, faults, odd_addresses, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.solr, pytest.mark.slow]

LANGUAGES = {"zh": "zh-CN", "en": "en-GB"}
SAID = {"zh": ("确认", "已确认 1 项", "已确认 2 项"), "en": ("Confirm", "1 item confirmed", "2 items confirmed")}
HOSTILE = "<img src=x onerror=alert(1)>\"&'"


def topic(name: str) -> Topic:
    return Topic(
        name,
        words=(name,),
        terms=(
            TopicTerm("水平井", state=TopicState.CONFIRMED, score=1.0),
            TopicTerm("压裂", origin="index", score=0.7, evidence="10 pages found by 水平井"),
            TopicTerm("钻井", origin="crawl", score=0.4),
            TopicTerm(HOSTILE, origin="index", score=0.2, evidence=HOSTILE),
        ),
        seeds=(TopicSeed("http://news.test/a", origin="index", score=0.5, evidence=HOSTILE),),
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_terms_and_seeds_are_judged(visit: Visit, vertical: Vertical, language: str) -> None:
    files = TopicFiles(vertical.engine.settings.data_dir)
    name = f"页岩气 {language}"
    files.create(topic(name))
    confirm, one, two = SAID[language]
    plain = sign_in(visit(locale=LANGUAGES[language], java_script_enabled=False))
    plain.goto("/admin/topics/")
    row = plain.locator("#topics tbody tr").filter(has_text=name)
    expect(row.locator("td").first).to_have_text("4")
    row.get_by_role("link").click()
    expect(plain.locator("#terms tbody tr")).to_have_count(3)
    plain.get_by_role("button", name=f"{confirm}: 压裂").focus()
    plain.keyboard.press("Enter")
    expect(plain.locator("p.note[role=status]")).to_contain_text(one)
    assert files.read(name).confirmed(TopicTermClass.PROFESSIONAL) == ("水平井", "压裂")

    plain.get_by_role("checkbox", name="钻井").check()
    plain.get_by_role("checkbox", name="http://news.test/a").check()
    plain.locator("#bulk select").select_option("subject")
    plain.locator("#bulk").get_by_role("button", name=confirm).click()
    expect(plain.locator("p.note[role=status]")).to_contain_text(two)
    after = files.read(name)
    assert after.confirmed(TopicTermClass.SUBJECT) == ("钻井",)
    assert after.seeds[0].state is TopicState.CONFIRMED
    plain.locator("#bulk").get_by_role("button", name=confirm).click()  # nothing is ticked
    assert files.read(name) == after


@pytest.mark.parametrize(("language", "width"), [("zh", 1280), ("en", 360)])
def test_the_pages_are_accessible(visit: Visit, vertical: Vertical, language: str, width: int) -> None:
    name = f"页岩油 {language}"
    TopicFiles(vertical.engine.settings.data_dir).create(topic(name))
    page = sign_in(visit(locale=LANGUAGES[language], viewport={"width": width, "height": 900}))
    for address in ("/admin/topics/", f"/admin/topics/{name}?state=all"):
        page.goto(address)
        assert faults(page) == []
        assert odd_addresses(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (address, width)


def test_a_damaged_file_and_an_unknown_topic_are_said(visit: Visit, vertical: Vertical) -> None:
    files = TopicFiles(vertical.engine.settings.data_dir)
    files.create(topic("damaged"))
    files.path("damaged").write_text("{}")
    page = sign_in(visit(404))
    page.goto("/admin/topics/")
    expect(page.locator("#topics tbody tr").filter(has_text="damaged")).to_contain_text("version is missing")
    page.goto("/admin/topics/never")
    expect(page.locator("h1")).to_be_visible()
    files.path("damaged").unlink()


def test_the_sites_page_shows_the_harvest(visit: Visit, vertical: Vertical) -> None:
    page = sign_in(visit())
    page.goto("/admin/sites")
    expect(page.locator("#site-health")).not_to_contain_text("收获率")  # nothing was judged
    table = vertical.engine.store.judgements
    first, second = table.unread(2)
    judged = [PageDecision(n, "fused", "页岩气", 0.5, n == 0, b"") for n in range(2)]
    table.record(list(zip((first.url_id, second.url_id), judged, strict=True)))
    page.reload()
    expect(page.locator("#site-health")).to_contain_text("收获率")
    rows = page.locator("#site-health tbody tr")
    said = [text for text in rows.all_inner_texts() if "fused" in text]
    same_host = first.host == second.host
    assert [("50 %" in text, "(1 / 2)" in text) for text in said] == [(True, True)] if same_host else len(said) == 2
