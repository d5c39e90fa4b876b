"""Differences between URLs that mean nothing: forms, and what a site teaches."""

from pathlib import Path

import pytest

from crawler.urls.canonical import canonical
from crawler.urls.dust import TRAITS, DustRules, SiteDustRules, loose_form, traits_of, without_trait

H = "http://site.test"


@pytest.mark.parametrize(
    ("trait", "url", "want"),
    [
        ("scheme", "https://site.test/x", "http://site.test/x"),
        ("www", "http://www2.site.test/x", "http://site.test/x"),
        ("www", "http://www.test/x", "http://www.test/x"),  # nothing would be left of the host
        ("slash", "http://site.test/x/?a", "http://site.test/x?a"),
        ("slash", "http://site.test/", "http://site.test/"),
        ("index", "http://site.test/x/index.html?a", "http://site.test/x/?a"),
        ("case", "http://site.test/News?A=B", "http://site.test/news?a=b"),
        ("escapes", "http://site.test/a%21b%2Fc", "http://site.test/a!b%2Fc"),
        ("?ref", "http://site.test/x?a=1&ref=2", "http://site.test/x?a=1"),
        ("?ref", "http://site.test/x?ref=2", "http://site.test/x"),
        ("?ref", "http://site.test/x", "http://site.test/x"),
    ],
)
def test_without_trait(trait: str, url: str, want: str) -> None:
    assert without_trait(url, trait) == want
    assert without_trait(want, trait) == want


def test_loose_form() -> None:
    assert loose_form("https://www.site.test/News/Index.html?a=1") == "http://site.test/news?a=1"
    assert loose_form(H + "/") == H + "/"


def test_every_trait_is_asked_about() -> None:
    assert list(traits_of(H + "/x?a=1&b")) == [*TRAITS, "?a", "?b"]


def test_a_parameter_that_never_changes_the_page_is_dropped() -> None:
    site = SiteDustRules()
    for number in range(6):
        assert site.redundant == ()
        site.observe(f"{H}/p?ref={number}", "same")
    assert site.redundant == ("?ref",)
    assert site.reduced(f"{H}/q?id=7&ref=9") == f"{H}/q?id=7"


def test_a_parameter_that_changes_some_pages_is_kept() -> None:
    site = SiteDustRules()
    for number in range(100):
        site.observe(f"{H}/p?id={number // 2}", f"page {number % 20}")
        site.observe(f"{H}/q?id={number}", "empty")
    assert "?id" not in site.redundant


def test_capitals_mean_nothing_on_some_sites() -> None:
    site = SiteDustRules()
    for number in range(5):
        for path in (f"/News{number}", f"/news{number}"):
            site.observe(H + path, f"page {number}")
    assert site.redundant == ("case",)
    assert SiteDustRules(site.evidence).redundant == ("case",)  # kept between runs


def test_what_is_remembered_is_bounded() -> None:
    site = SiteDustRules()
    for number in range(30_000):
        site.observe(f"{H}/{number}?p{number}=1", "x")
    assert len(site._pages) <= 2000


def test_of_two_traits_that_differ_at_once_nothing_is_learned() -> None:
    site = SiteDustRules()
    for number in range(10):
        site.observe(f"{H}/News{number}/", f"page {number}")
        site.observe(f"{H}/news{number}", f"page {number}")
    assert site.redundant == ()


def test_the_first_form_of_an_address_stands_for_the_others() -> None:
    site = SiteDustRules()
    assert site.first_of(H + "/Q") == H + "/Q"
    for number in range(5):
        for path in (f"/News{number}", f"/news{number}"):
            site.observe(H + path, f"page {number}")
    assert site.first_of(H + "/Q") == H + "/Q"
    assert site.first_of(H + "/q") == H + "/Q"
    assert site.first_of(H + "/r") == H + "/r"


def test_what_sites_taught_outlives_a_run(tmp_path: Path) -> None:
    sites, file = DustRules(), tmp_path / "likeness.json"
    for number in range(6):
        sites.of("www.site.test").observe(f"{H}/p?ref={number}", "same")
    sites.save(file)
    assert DustRules.load(file).of("site.test").redundant == ("?ref",)
    file.write_text("[1, 2")
    assert DustRules.load(file).of("site.test").redundant == ()


def test_sites_in_memory_are_bounded() -> None:
    sites = DustRules()
    for number in range(6):
        sites.of("first.test").observe(f"http://first.test/p?ref={number}", "same")
    for number in range(300):
        sites.of(f"{number}.test")
    assert len(sites._sites) <= 100
    assert sites.of("first.test").redundant == ("?ref",)


def test_reduced_addresses_are_canonical() -> None:
    for text in (H + "/A/?b=1&ref=2", "https://www.site.test/x%21/index.php?ref=1"):
        url = canonical(text)
        for trait in traits_of(url):
            assert canonical(without_trait(url, trait)) == without_trait(url, trait)
