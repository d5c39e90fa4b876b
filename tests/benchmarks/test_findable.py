"""The benchmark of findability: its pages, its queries, and the share of strings that a search must find."""

import unicodedata
from collections import Counter
from pathlib import Path

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
from benchmarks.findable_forms import FORMS, NATIVE_ZERO, cut_words, search_key
from benchmarks.findable_queries import MAX_PAGES_PER_STRING, RARE_FORMS, WORD_FORMS, StoredText, draw_queries
from benchmarks.findable_site import (
    CASES_SITE,
    FIRST_DAY,
    PAIRS_SITE,
    SITE,
    FindablePage,
    Query,
    load_cases,
    load_rare_strings,
    load_rows,
    load_texts,
    make_pages,
    to_gold_page,
)
from benchmarks.results import check_floors, values_by_name
from domain.errors import PlumblineError
from pipeline.search_site.search_app import create_search_app
from tests.conftest import SHARED

TEXTS = load_texts()


def stored_as_made(pages: list[FindablePage]) -> dict[str, StoredText]:
    """The pages as a store has them that changes nothing."""
    return {
        page.url: StoredText.of_language(page.title, "\n".join(page.paragraphs), page.language, TEXTS[page.language])
        for page in pages
    }


@pytest.mark.parametrize(
    ("text", "vocabulary", "words"),
    [
        pytest.param("The pump's 2.5MPa, O’Neill - 10:30!", (), "The|pump's|2.5MPa|O’Neill|10|30", id="latin"),
        pytest.param("Цена 1,5 млн; т.е. кто-то", (), "Цена|1,5|млн|т.е|кто|то", id="cyrillic"),
        pytest.param(
            "钻工把iPhone15放入井底", ("钻工", "放入", "井底"), "钻工|iPhone15|放入|井底", id="words of the vocabulary"
        ),
        pytest.param("ชั้นก๊าซแล้ว", ("ก๊าซ",), "ก๊าซ", id="no parts of words"),
        pytest.param("29 m³ of CO₂ and water", (), "29|of|and|water", id="no word before a superscript"),
    ],
)
def test_words_end_at_unicode_boundaries(text: str, vocabulary: tuple[str, ...], words: str) -> None:
    cut = cut_words(text, vocabulary)
    assert [word.text for word in cut] == words.split("|")
    assert all(text[word.start : word.end] == word.text for word in cut)


@pytest.mark.parametrize(
    ("form", "language", "text", "expected"),
    [
        ("no_accents", "de", "Großrohrhülse", "Grossrohrhulse"),
        ("no_accents", "vi", "động đất", "dong dat"),
        ("no_accents", "ru", "ещё район", "еще район"),
        ("no_accents", "el", "γεώτρηση", "γεωτρηση"),
        ("nfd", "ko", "한", "\u1112\u1161\u11ab"),
        ("upper", "tr", "ışık izi", "IŞIK İZİ"),
        ("upper", "de", "Straße", "STRASSE"),
        ("upper", "el", "άτομο", "ΑΤΟΜΟ"),
        ("lower", "tr", "IĞDIR", "ığdır"),
        ("lower", "el", "ΣΙΣΥΦΟΣ", "σισυφος"),
        ("full_width", "en", "2.5MPa", "２．５ＭＰａ"),
        ("full_width", "de", "Öl", "Öl"),
        ("kana_width", "ja", "ガスポンプ", "ｶﾞｽﾎﾟﾝﾌﾟ"),
        ("kana_width", "ja", "ｶﾞｽ", "ガス"),
        ("other_script", "zh-CN", "钻头", "鑽頭"),
        ("other_script", "zh-TW", "鑽頭", "钻头"),
        ("unit_spacing", "en", "2.5MPa", "2.5 MPa"),
        ("unit_spacing", "en", "85.5 ℃", "85.5℃"),
        ("unit_spacing", "zh-CN", "120㎡", "120 ㎡"),
        ("ascii_digits", "fa", "۱۴۰۳", "1403"),
    ],
)
def test_form_is_what_people_type(form: str, language: str, text: str, expected: str) -> None:
    assert list(FORMS[form](text, language)) == [expected]


def test_other_marks_replace_each_apostrophe_and_hyphen() -> None:
    assert {"O'Neill", "O’Neill", "Oʼ" + "Neill"} <= set(FORMS["apostrophes"]("O`Neill", "en"))
    assert {"U-Bahn", "U‑Bahn", "U–Bahn"} <= set(FORMS["hyphens"]("U‐Bahn", "de"))
    assert not list(FORMS["hyphens"]("Bahn", "de"))


@pytest.mark.parametrize(
    "spellings",
    [
        ("résumé", "RESUME", "re\u0301sume\u0301"),
        ("O'Neill", "o’neill"),
        ("Straße", "STRASSE"),
        ("５GHz", "5ghz"),
        ("鑽頭", "钻头"),
        ("thermo\u00adstat", "Thermostat"),
        ("U‑Bahn", "u-bahn"),
        ("ﬁlter", "filter"),
    ],
)
def test_spellings_of_a_string_are_counted_together(spellings: tuple[str, ...]) -> None:
    assert len(set(map(search_key, spellings))) == 1


def test_texts_are_complete_and_without_repetition() -> None:
    assert len(TEXTS) >= 30
    for language, texts in TEXTS.items():
        assert len(texts.titles) == PAGES_PER_LANGUAGE and len(texts.sentences) >= 12, language
        assert len(texts.notes) == 3 and all(note.count("{}") == 1 for note in texts.notes), language
        whole = [*texts.titles, *texts.sentences, *texts.notes]
        assert len(whole) == len(set(whole)) and not [text for text in whole if "|" in text], language
        if language not in ("hi", "bn"):  # NFC decomposes some of their letters
            assert not [text for text in whole if unicodedata.normalize("NFC", text) != text], language
    scripts = {unicodedata.name(texts.titles[0][0]).split()[0] for texts in TEXTS.values()}
    assert len(scripts) >= 15, sorted(scripts)


def test_languages_of_all_files_are_known() -> None:
    named = {one for languages, _ in load_rare_strings() for one in languages.split(",")} - {"*"}
    assert named | {row[2] for row in load_rows("findable_pairs.tsv")} | NATIVE_ZERO.keys() <= TEXTS.keys()
    assert RARE_FORMS.keys() <= {rare.category for _, rare in load_rare_strings()}
    assert {form for forms in (WORD_FORMS, *RARE_FORMS.values()) for form in forms} <= FORMS.keys()
    with pytest.raises(PlumblineError, match="no texts in xx"):
        load_texts(["en", "xx"])


def test_pages_differ_and_are_the_same_in_every_run() -> None:
    pages = make_pages(TEXTS, PAGES_PER_LANGUAGE)
    assert len(pages) >= 300 and pages == make_pages(load_texts(), PAGES_PER_LANGUAGE)
    assert len({page.url for page in pages}) == len({page.title for page in pages}) == len(pages)
    paragraphs = Counter(paragraph for page in pages for paragraph in page.paragraphs)
    assert max(paragraphs.values()) == 1
    for page in pages:
        text = f"{page.title}\n" + "\n".join(page.paragraphs)
        assert all(rare.text in text for rare in page.rare_strings) and "{}" not in text
    assert {rare.category for page in pages for rare in page.rare_strings} == {
        rare.category for _, rare in load_rare_strings()
    }


@pytest.mark.slow
def test_each_query_is_for_few_pages_and_the_same_in_every_run() -> None:
    pages = make_pages(TEXTS, PAGES_PER_LANGUAGE)
    stored = stored_as_made(pages)
    queries = list(draw_queries(pages, TEXTS, stored))
    assert queries == list(draw_queries(pages, TEXTS, stored)) and len(queries) > 4_000
    text_by_url = {url: search_key(f"{text.title}\n{text.body}") for url, text in stored.items()}
    for query in queries:
        if (
            query.category in {rare.category for _, rare in load_rare_strings()}
            and query.text in text_by_url[query.url]
        ):
            assert sum(search_key(query.text) in text for text in text_by_url.values()) <= MAX_PAGES_PER_STRING
    drawn = {query.category for query in queries}
    assert {"title", "title_word", "word", "phrase", "by_date", "language", *FORMS} <= drawn
    assert {query.language for query in queries if query.category == "word"} == TEXTS.keys()


def test_rare_strings_of_a_page_that_is_not_stored_are_asked_too() -> None:
    pages = make_pages(TEXTS, 1)
    queries = list(draw_queries(pages, TEXTS, {}))
    assert queries and {query.url for query in queries} == {page.url for page in pages}


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


def test_saved_cases_are_read_with_their_pages(tmp_path: Path) -> None:
    (tmp_path / "queries.tsv").write_text("class\tquery\tpage\nscripts\tруда\ta.html\n", "utf-8")
    (tmp_path / "a.html").write_text("<p>руда", "utf-8")
    pages, cases = load_cases(tmp_path)
    assert [page.url for page in pages] == [case.url for case in cases] and cases[0].text == "руда"
    assert load_cases(tmp_path / "nothing") == ([], [])


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
