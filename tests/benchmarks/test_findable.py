"""The benchmark of findability: its pages, its queries, and the share of strings that a search must find."""

import pytest

from benchmarks.findable import (
    NAME,
    PAGES_PER_LANGUAGE,
    PAIRS,
    Place,
    find_page,
    found_figures,
    measure,
    open_site,
)
from benchmarks.findable_site import (
    CASES_SITE,
    FIRST_DAY,
    PAIRS_SITE,
    SITE,
    FindablePage,
    Query,
    load_texts,
    make_pages,
    to_gold_page,
)
from benchmarks.results import check_floors, values_by_name
from pipeline.search_site.search_app import create_search_app
from tests.conftest import SHARED


def test_shares_are_by_set_class_and_language() -> None:
    places = {
        Query("word", "de", "Erz", f"http://{SITE}/a"): Place.FOUND,
        Query("word", "en", "ore", f"http://{SITE}/a"): Place.PARTIAL,
        Query("number", "de", "1,5", f"http://{SITE}/a"): Place.MISSING,
        Query("scripts, other", "", "руда", f"http://{CASES_SITE}/a"): Place.FOUND,
        Query(PAIRS, "de", "Straße", f"http://{PAIRS_SITE}/a"): Place.FOUND,
        Query(PAIRS, "de", "Strasse", f"http://{PAIRS_SITE}/b"): Place.BEHIND,
    }
    values = values_by_name(list(found_figures(places)))
    assert values["findable found"] == pytest.approx(1 / 3) and values["findable queries"] == 3
    assert values["findable found_word"] == values["findable de found"] == 0.5 and values["findable en found"] == 0
    assert values["cases found"] == values["cases found_scripts_other"] == values["cases queries"] == 1
    assert values["exact_first exact_first"] == 0.5


@pytest.mark.solr
@pytest.mark.process
@pytest.mark.slow
@pytest.mark.exhaustive
def test_place_of_a_page_is_that_of_its_own_url() -> None:
    pages = make_pages(load_texts(["en", "zh-CN"]), 3)
    texts = {"viaduct": "Masons finished the viaduct across the gorge.", "aqueduct": "An aqueduct brought no water."}
    arch, fountain = (
        FindablePage(f"http://{PAIRS_SITE}/{word}.html", "en", f"Stone work {len(word)}", (f"{text} " * 3,))
        for word, text in texts.items()
    )
    with open_site([to_gold_page(page) for page in (*pages, arch, fountain)]) as engine:
        app = create_search_app(engine)
        assert find_page(app, Query("title", "en", pages[0].title, pages[0].url)) is Place.FOUND
        assert find_page(app, Query("title", "en", pages[0].title, pages[5].url)) is Place.MISSING
        assert find_page(app, Query("word", "en", "notawordanywhere", pages[0].url)) is Place.MISSING
        one_of_four = f"{pages[0].title.split()[0]} neither nowhere nothinghere"
        assert find_page(app, Query("word", "en", one_of_four, pages[0].url)) is Place.PARTIAL
        early = (("to", FIRST_DAY.isoformat()),)
        assert find_page(app, Query("title", "en", pages[1].title, pages[1].url, early)) is Place.MISSING
        for page, word, place in (
            (arch, "viaduct", Place.FOUND),
            (arch, "aqueduct", Place.BEHIND),
            (fountain, "aqueduct", Place.FOUND),
            (fountain, "waterless", Place.MISSING),
        ):
            rival = fountain if page is arch else arch
            assert find_page(app, Query(PAIRS, "en", word, page.url, rival_url=rival.url)) is place


@pytest.mark.shared
@pytest.mark.solr
@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "pages", "every"),
    [
        pytest.param(f"{NAME} sample", 2, 6, id="sample"),
        pytest.param(NAME, PAGES_PER_LANGUAGE, 1, id="whole", marks=pytest.mark.exhaustive),
    ],
)
def test_strings_of_stored_articles_are_found(part: str, pages: int, every: int) -> None:
    places, figures = measure(SHARED / "data", pages=pages, every=every)
    assert {query.host for query in places} == {SITE, PAIRS_SITE, CASES_SITE}
    check_floors(part, values_by_name(figures))
