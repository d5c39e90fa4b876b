"""Differences between URLs that mean nothing: forms, and what a site teaches."""

from pathlib import Path

import pytest

from crawler.dedup.dust import (
    DustRules,
    SiteDustRules,
    apply_all_equivalences,
    apply_equivalence,
    iter_equivalences,
)
from crawler.urls.canonical import canonicalize_url

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
    assert apply_equivalence(url, trait) == want
    assert apply_equivalence(want, trait) == want


def test_loose_form() -> None:
    assert apply_all_equivalences("https://www.site.test/News/Index.html?a=1") == "http://site.test/news?a=1"
    assert apply_all_equivalences(H + "/") == H + "/"


def test_a_parameter_that_never_changes_the_page_is_dropped() -> None:
    site = SiteDustRules()
    for number in range(6):
        assert site.confirmed_equivalences == ()
        site.record_page(f"{H}/p?ref={number}", "same")
    assert site.confirmed_equivalences == ("?ref",)
    assert site.reduce_url(f"{H}/q?id=7&ref=9") == f"{H}/q?id=7"


def test_a_parameter_that_changes_some_pages_is_kept() -> None:
    site = SiteDustRules()
    for number in range(100):
        site.record_page(f"{H}/p?id={number // 2}", f"page {number % 20}")
        site.record_page(f"{H}/q?id={number}", "empty")
    assert "?id" not in site.confirmed_equivalences


def test_capitals_mean_nothing_on_some_sites() -> None:
    site = SiteDustRules()
    for number in range(5):
        for path in (f"/News{number}", f"/news{number}"):
            site.record_page(H + path, f"page {number}")
    assert site.confirmed_equivalences == ("case",)
    assert SiteDustRules(site.evidence_by_equivalence).confirmed_equivalences == ("case",)  # kept between runs


def test_what_is_remembered_is_bounded() -> None:
    site = SiteDustRules()
    for number in range(30_000):
        site.record_page(f"{H}/{number}?p{number}=1", "x")
    assert len(site._last_page_by_key) <= 2000


def test_of_two_traits_that_differ_at_once_nothing_is_learned() -> None:
    site = SiteDustRules()
    for number in range(10):
        site.record_page(f"{H}/News{number}/", f"page {number}")
        site.record_page(f"{H}/news{number}", f"page {number}")
    assert site.confirmed_equivalences == ()


def test_the_first_form_of_an_address_stands_for_the_others() -> None:
    site = SiteDustRules()
    assert site.first_variant(H + "/Q") == H + "/Q"
    for number in range(5):
        for path in (f"/News{number}", f"/news{number}"):
            site.record_page(H + path, f"page {number}")
    assert site.first_variant(H + "/Q") == H + "/Q"
    assert site.first_variant(H + "/q") == H + "/Q"
    assert site.first_variant(H + "/r") == H + "/r"


def test_what_sites_taught_outlives_a_run(tmp_path: Path) -> None:
    sites, file = DustRules(), tmp_path / "likeness.json"
    for number in range(6):
        sites.for_host("www.site.test").record_page(f"{H}/p?ref={number}", "same")
    sites.save(file)
    assert DustRules.load(file).for_host("site.test").confirmed_equivalences == ("?ref",)
    file.write_text("[1, 2")
    assert DustRules.load(file).for_host("site.test").confirmed_equivalences == ()


def test_sites_in_memory_are_bounded() -> None:
    sites = DustRules()
    for number in range(6):
        sites.for_host("first.test").record_page(f"http://first.test/p?ref={number}", "same")
    for number in range(300):
        sites.for_host(f"{number}.test")
    assert len(sites._sites) <= 100
    assert sites.for_host("first.test").confirmed_equivalences == ("?ref",)


def test_reduced_addresses_are_canonical() -> None:
    for text in (H + "/A/?b=1&ref=2", "https://www.site.test/x%21/index.php?ref=1"):
        url = canonicalize_url(text)
        for trait in iter_equivalences(url):
            assert canonicalize_url(apply_equivalence(url, trait)) == apply_equivalence(url, trait)
