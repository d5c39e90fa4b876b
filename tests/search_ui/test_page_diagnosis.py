"""Why a page is not among the results: the page for administrators, and searches for a URL."""

from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from domain.account import Role
from domain.article import document_id
from domain.errors import PlumblineError, SolrUnavailableError
from domain.operation import Call, Change
from domain.outcome import Reason
from domain.page_diagnosis import (
    PageCause,
    PageCheck,
    PageCheckName,
    PageCheckState,
    PageDiagnosis,
    PageRemedy,
)
from search_ui.i18n import LANGUAGES, has_name, translate_code_to, translate_to
from tests.builders import page_at
from tests.site_fixture import FakeSearch, MemorySite, document, sign_in, site_app

PAGE_URL = "https://news.example/a?x=<script>1</script>"
STOP = PageCheck(
    PageCheckName.ALLOWED, PageCheckState.FAILED, Reason.ROBOTS_FORBIDDEN, "<b>/a</b>", 120.0,
    PageCause.ROBOTS_FORBIDDEN, remedies=(PageRemedy.CRAWL_AGAIN,),
)  # fmt: skip
LATER = [PageCheck(name, PageCheckState.NOT_REACHED) for name in list(PageCheckName)[2:]]
FORBIDDEN = PageDiagnosis(PAGE_URL, [PageCheck(PageCheckName.KNOWN, PageCheckState.PASSED, at=60.0), STOP, *LATER])
TARGET = "https://other.example/b"
REDIRECTED = PageDiagnosis(
    "https://news.example/r",
    [PageCheck(
        PageCheckName.FETCHED, PageCheckState.FAILED, cause=PageCause.REDIRECTED_OUT_OF_SCOPE, related_url=TARGET,
        remedies=(PageRemedy.ADD_SITE,),
    )],
)  # fmt: skip


def signed_in(actions: MemorySite, role: Role = Role.OPERATOR, **more: Any) -> tuple[FlaskClient, str]:
    client = site_app(site=actions, roles={"someone": role}, **more).test_client()
    return client, sign_in(client, "someone")


def with_diagnoses(*diagnoses: PageDiagnosis, fault: str = "") -> MemorySite:
    """A vertical with these diagnoses, whose pages are known; `done` has the remedies and the started runs."""
    known, done = {each.url: each for each in diagnoses}, list[tuple[str, str]]()

    def remedy(name: str, call: Call) -> Change | None:
        if fault:
            raise PlumblineError(fault)
        done.append((name, call.text("url")))
        return Change("") if name != "page_crawl_again" or call.text("url") in known else None

    declared = MemorySite().administration.operations
    names = ["run_start", "page_crawl_again", "page_add_url"]
    operations = {name: replace(declared[name], apply=partial(remedy, name)) for name in names}
    site = MemorySite(diagnose_page=lambda url, _: known.get(url), operations=operations)
    site.done = done  # type: ignore[attr-defined]
    return site


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_names_the_step_and_what_to_do(language: str) -> None:
    client, _ = signed_in(with_diagnoses(FORBIDDEN))
    found = page_at(client, f"/admin/page?lang={language}&url={quote(PAGE_URL)}")
    assert [item["class"] for item in found.select("#page-checks li")] == [
        ["passed"], ["failed", "stop"], *[["not_reached"]] * 4,
    ]  # fmt: skip
    assert translate_code_to(language, "page_cause", "robots_forbidden") in found.select("#page-checks .stop")[0].text
    assert translate_to(language, "No further visit is planned.") in found.text
    assert found.select("#page-checks b b, #page-checks script") == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_cause_and_remedy_has_a_message(language: str) -> None:
    values = {"host": "h", "depth": 4, "max_depth": 3, "n": 5, "status": "500", "filters": "f"}
    for cause in PageCause:
        assert translate_code_to(language, "page_cause", cause, **values)
    for remedy in PageRemedy:
        assert has_name("page_remedy", remedy)
        assert has_name("page_done", remedy) or remedy is PageRemedy.ADD_SITE  # a form of its own


def test_a_page_that_needs_a_login_links_to_the_login_of_its_site() -> None:
    check = PageCheck(PageCheckName.FETCHED, PageCheckState.FAILED, cause=PageCause.NEEDS_LOGIN)
    site = with_diagnoses(PageDiagnosis(PAGE_URL, [check]))
    for role, links in ((Role.OPERATOR, ["/admin/sites/news.example/login"]), (Role.REPORTS, [])):
        found = page_at(signed_in(site, role)[0], f"/admin/page?url={quote(PAGE_URL)}")
        assert [link["href"] for link in found.select("#login-link")] == links


def test_an_invalid_or_missing_url() -> None:
    client, _ = signed_in(with_diagnoses())
    assert "网址无效" in page_at(client, "/admin/page?url=x").text
    assert "网址无效" not in page_at(client, "/admin/page").text


def test_only_an_operator_changes_the_crawl() -> None:
    actions = with_diagnoses(FORBIDDEN, REDIRECTED)
    client, token = signed_in(actions)
    again = {"remedy": "crawl_again", "token": token}
    reply = client.post("/admin/page/remedy", data={**again, "url": PAGE_URL}, follow_redirects=True)
    assert "已安排在下次运行任务时抓取" in reply.text and actions.done == [("page_crawl_again", PAGE_URL)]
    assert client.post("/admin/page/remedy", data={**again, "url": "https://x.example/"}).status_code == 404
    assert client.post("/admin/page/remedy", data={**again, "url": PAGE_URL, "now": "1"}).status_code == 303
    assert actions.done[2:] == [("page_crawl_again", PAGE_URL), ("run_start", "")]
    form = page_at(client, "/admin/page?url=https://news.example/r").select_one(".stop form")
    assert form is not None
    fields = {str(each["name"]): str(each["value"]) for each in form.select("input")}
    assert (form["action"], fields["url"]) == ("/admin/sites/add", "https://other.example/")  # which checks it
    reader, token = signed_in(actions, Role.REPORTS)
    assert "<form method" not in reader.get(f"/admin/page?url={quote(PAGE_URL)}").text.partition("<main")[2]
    data = {"url": PAGE_URL, "remedy": "add_site", "token": token}
    assert reader.post("/admin/page/remedy", data=data).status_code == 403


def test_a_remedy_that_fails_is_explained() -> None:
    actions = with_diagnoses(REDIRECTED, fault="the settings exclude it")
    client, token = signed_in(actions)
    data = {"url": TARGET, "remedy": "add_url", "token": token}
    assert "the settings exclude it" in client.post("/admin/page/remedy", data=data, follow_redirects=True).text
    assert client.post("/admin/page/remedy", data={**data, "remedy": "delete"}).status_code == 400


def test_a_search_for_a_url_tells_readers_only_whether_it_is_there() -> None:
    known = document(1, "页岩气", "页岩气产量增长")
    known_url = "https://news.example/known.html"
    known["id"] = document_id(known_url)
    solr = FakeSearch([known])
    actions = with_diagnoses(FORBIDDEN)
    reader = site_app(search=solr, site=actions).test_client()
    lookup = page_at(reader, f"/search?q={quote(known_url)}").select_one("#page-lookup a")
    assert lookup is not None and lookup["href"] == f"/article/{known['id']}"
    missing = page_at(reader, f"/search?q={quote('https://news.example/other.html')}")
    assert "这个网页没有收录" in missing.text and not missing.select("#why-not, #missing-page")
    assert not page_at(reader, "/search?q=页岩气").select("#page-lookup, #missing-page")
    client, _ = signed_in(actions, Role.REPORTS, search=solr)
    link = page_at(client, f"/search?q={quote('https://news.example/other.html')}").select_one("#why-not")
    assert link is not None and link["href"] == "/admin/page?url=https://news.example/other.html"
    link = page_at(client, "/search?q=页岩气&site=news.example").select_one("#missing-page")
    assert link is not None
    form = page_at(client, str(link["href"])).select_one(".page-form")
    assert form is not None
    assert {each["name"]: each.get("value") for each in form.select("input")} == {
        "url": "", "q": "页岩气", "site": "news.example",
    }  # fmt: skip


def test_a_solr_that_hangs_ends_the_diagnosis_within_the_time_limit_of_searches() -> None:
    """The diagnosis gets the search client, which has the time limit, and what it raises is a page."""
    search = FakeSearch(error=SolrUnavailableError("took longer than 1.5 s"))
    client, _ = signed_in(MemorySite(diagnose_page=lambda _, solr: solr.select([])), Role.REPORTS, search=search)
    assert client.get(f"/admin/page?url={quote(PAGE_URL)}").status_code == 503
