"""Solr parameters by URL."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from werkzeug.datastructures import MultiDict

from domain.errors import SettingsError
from pipeline.settings import build_settings
from search_ui.query.query_plan import QueryPlan
from search_ui.query.query_words import QueryWords, Thesaurus, segment_query, segment_words
from search_ui.query.ranking import PROFILES
from search_ui.query.search_request import BadSearchRequestError, SearchRequest, SortOrder, parse_search_request
from search_ui.query.solr_query import Params, QueryVariant
from search_ui.query.solr_requests import count_params, details_params, hits_params
from search_ui.settings import PROFILE_NAMES, SearchSettings
from tests.site_fixture import BASE
from text.solr_words import WORD_SEPARATOR

SETTINGS = SearchSettings()
BASE_WORDS = ("世界", "石油", "大会")


def ask(*pairs: tuple[str, str]) -> SearchRequest:
    return parse_search_request(MultiDict(pairs), SETTINGS, PROFILES)


def plan(*pairs: tuple[str, str], base: tuple[str, ...] = BASE_WORDS, word: str = "世界石油大会") -> QueryPlan:
    asked = ask(*pairs)
    typed = asked.parsed_query.ranking_text
    return QueryPlan(asked, QueryWords(typed, typed, (word,), (word,), base=base))


def params(*pairs: tuple[str, str]) -> Params:
    return hits_params(plan(*pairs), SETTINGS.page_size)


def test_an_address_becomes_a_request_and_again_the_same_address() -> None:
    pairs = [
        ("q", "页岩气"), ("site", "a.example"), ("site", "b.example"), ("section", "要闻"),
        ("language", "zh"), ("author", "张三"),
        ("type", "forum"), ("term", "压裂"), ("term", "煤层气"), ("cluster", "c1"), ("from", "2016"), ("to", "2016-05"),
        ("sort", "date"), ("profile", "base"), ("page", "3"),
    ]  # fmt: skip
    asked = ask(*pairs)
    assert asked.sites == ("a.example", "b.example") and asked.sort is SortOrder.DATE and asked.page == 3
    assert asked.to_url_params(SETTINGS) == pairs
    assert ask(("q", "页岩气")).to_url_params(SETTINGS) == [("q", "页岩气")]


@pytest.mark.parametrize(
    ("pair", "key"),
    [
        (("page", "-1"), "page"),
        (("page", "0"), "page"),
        (("page", "11"), "page"),  # further ones have cursors
        (("page", "１"), "page"),
        (("page", "1e3"), "page"),
        (("from", "2016-13"), "date"),
        (("to", "2016-02-30"), "date"),
        (("from", "* TO *"), "date"),
        (("sort", "title asc,"), "sort"),
        (("profile", "edismax"), "profile"),
    ],
)
def test_what_does_not_exist_is_refused(pair: tuple[str, str], key: str) -> None:
    with pytest.raises(BadSearchRequestError, match=f"^{re.escape(key)}$"):
        ask(("q", "a"), pair)


def test_dates_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(BadSearchRequestError, match="dates_reversed"):
        ask(("q", "a"), ("from", "2017"), ("to", "2016-12"))
    assert ask(("q", "a"), ("from", "2016-12"), ("to", "2016")).date_range() != (None, None)


@pytest.mark.parametrize(
    ("since", "until", "span", "year"),
    [
        ("2016", "2016", ("2016-01-01", "2017-01-01"), 2016),
        ("2016-12", "2016-12", ("2016-12-01", "2017-01-01"), 2016),
        ("2016-02-29", "", ("2016-02-29", ""), None),
        ("", "2016-02-28", ("", "2016-02-29"), None),
        ("2015", "2016", ("2015-01-01", "2017-01-01"), None),
        ("", "", ("", ""), None),
    ],
)
def test_spans_hold_the_whole_last_part(since: str, until: str, span: tuple[str, str], year: int | None) -> None:
    asked = ask(("q", "a"), ("from", since), ("to", until))
    assert [str(day or "") for day in asked.date_range()] == [*span]
    assert asked.single_year() == year


def test_changing_a_filter_goes_back_to_the_first_page() -> None:
    asked = ask(("q", "a"), ("page", "4"), ("site", "a.example"))
    assert asked.with_toggled("sites", "b.example").sites == ("a.example", "b.example")
    assert asked.with_toggled("sites", "a.example").sites == ()
    assert asked.with_toggled("terms", "页岩气").page == 1
    assert asked.with_changes(page=5).page == 5


def test_words_are_joined_as_in_documents() -> None:
    named = dict(params(("q", "世界石油大会"), ("profile", "base")))
    assert named["base_words"] == WORD_SEPARATOR.join(BASE_WORDS)
    assert segment_words("世界，石油 a!", BASE) == ("世界", "石油", "a")


@pytest.mark.parametrize(
    ("profile", "searched"),
    [
        (
            "plumbline",
            {"title", "body", "title_chars", "title_key", "body_chars", "title_base", "body_base", "body_domain"},
        ),
        ("bigram", {"title", "body"}),
        ("domain", {"title_domain", "body_domain"}),
        ("base", {"title_base", "body_base"}),
    ],
)
def test_a_profile_ranks_by_its_fields_alone(profile: str, searched: set[str]) -> None:
    named = dict(params(("q", "世界石油大会"), ("profile", profile)))
    ranked = named.get("matched", named["ranked"])  # where authority counts, it is a factor on all else
    parts = [name for name in re.findall(r"should=\$(\w+)", ranked) if name != "titles"]
    parts += re.findall(r"should=\$(\w+)", named.get("titles", ""))
    parts += re.findall(r"\$(exact_words)\b", named.get("exact_words_score", ""))
    found = {
        field.split("^")[0]
        for part in parts
        for fields in re.findall(r"qf='([^']*)'", named[part])
        for field in fields.split()
    }
    assert found == searched


HOSTILE = "{!func}x ${q} title:a \"' ) OR *:* $text _query_:b \\"


@pytest.mark.parametrize("profile", PROFILES)
def test_a_readers_text_stays_in_the_parameters_that_carry_it(profile: str) -> None:
    asked = ask(("q", HOSTILE), ("profile", profile), ("sort", "date"), ("site", HOSTILE))
    hostile = QueryPlan(asked, segment_query(asked, BASE, BASE, Thesaurus()))
    requests = (
        hits_params(hostile, 10),
        details_params(hostile, [{"id": "d1", "cluster": "d1"}]),
        count_params(hostile),
    )
    sent = [pair for params in requests for pair in params]
    carriers = {*QueryVariant, "quoted", "sites", "exact_title"}
    of_readers = re.compile(r"(typed|word|part)\d+_(text|word)")
    fixed = [value for name, value in sent if name not in carriers and not of_readers.fullmatch(name)]
    assert fixed and not any("func" in value or "_query_:b" in value or "${" in value for value in fixed)
    assert ("expandMacros", "false") in sent
    assert all(value.count('"') == 2 for name, value in sent if re.fullmatch(r"(typed|word|part)\d+_text|quoted", name))


def facets(*pairs: tuple[str, str]) -> dict[str, Any]:
    counted: dict[str, Any] = json.loads(dict(count_params(plan(*pairs)))["json.facet"])
    return counted


def test_facets_ignore_their_own_filter_and_go_into_months() -> None:
    years = facets(("q", "a"), ("from", "2015"), ("to", "2016"))
    months = facets(("q", "a"), ("from", "2016-03"), ("to", "2016-03"))
    assert years["dates"]["gap"] == "+1YEAR" and months["dates"]["gap"] == "+1MONTH"
    assert months["dates"]["start"].startswith("2016-01-01") and months["dates"]["end"].startswith("2017-01-01")
    domains = {name: facet["domain"] for name, facet in years.items() if "domain" in facet}
    assert domains.pop("index") == {"query": "*:*"}
    assert {name: domain["excludeTags"] for name, domain in domains.items()} == {
        "sites": "site", "sections": "section", "languages": "language", "authors": "author", "types": "type",
        "formats": "filetype", "dates": "date",
        "sections_of_sites": "section", "authors_of_sites": "author",
    }  # fmt: skip


def test_near_duplicates_count_once_unless_they_are_opened_out() -> None:
    assert facets(("q", "a"))["total"] == "unique(cluster)"
    assert facets(("q", "a"), ("cluster", "c1"))["total"] == "unique(id)"
    collapsed = [value for name, value in params(("q", "a")) if name == "fq"]
    assert [value for value in collapsed if value.startswith("{!collapse field=cluster")] == collapsed != []
    opened = [value for name, value in params(("q", "a"), ("cluster", "c1")) if name == "fq"]
    assert opened and not any("collapse" in value for value in opened)


@pytest.mark.parametrize("pairs", [[("q", "a"), ("sort", "date")], [("q", "site:a.example")]])
def test_where_all_is_required_all_that_is_found_is_counted(pairs: list[tuple[str, str]]) -> None:
    assert dict(count_params(plan(*pairs)))["full_matches"] == "*:*"


def test_only_named_fields_come_back() -> None:
    named = dict(params(("q", "a")))
    assert (named["fl"], named["start"], named["rows"]) == (
        "id,cluster,series,picture,format,full:query($full_matches,0)", "0", "10",
    )  # fmt: skip
    shown = dict(details_params(plan(("q", "a")), [{"id": "d1"}, {"id": "d2"}]))
    assert shown["fl"] == (
        "id,url,site,title,published_text,fetched,cluster,series,picture,format,text_source,page_starts,story,language,"
        "author,source"
    )
    assert (shown["hits"], shown["rows"]) == ("d1,d2", "2")


def test_only_for_few_words_and_on_the_first_page_solr_need_not_count_to_the_end() -> None:
    few, many = plan(("q", "a")), plan(("q", "a"), base=tuple("abcdefghijklm"))
    assert "minExactCount" in dict(hits_params(few, 10, spare_hits=5))
    assert "minExactCount" not in dict(hits_params(many, 10, spare_hits=5))
    assert "minExactCount" not in dict(hits_params(few, 10))


@pytest.mark.parametrize("longest", [0, 161])
def test_a_query_length_that_solr_cannot_take_is_no_setting(longest: int) -> None:
    with pytest.raises(SettingsError, match=r"search\.longest_query"):
        build_settings({"search": {"longest_query": longest}}, Path())


def test_words_are_looked_for_simplified() -> None:
    for profile, form in (("domain", "domain_words"), ("base", "base_words")):
        named = plan(("q", "鑽頭"), ("profile", profile), base=("鑽頭",), word="鑽頭")
        assert dict(hits_params(named, 10))[form] == "钻头"


def test_the_setting_names_all_profiles() -> None:
    assert tuple(PROFILES) == PROFILE_NAMES


def test_values_are_excluded_by_a_parameter_of_their_own() -> None:
    asked = ask(("q", "a"), ("site", "a.example"), ("-site", "b.example"), ("-section", "-x"), ("section", "-y"))
    assert (asked.exclusions.sites, asked.exclusions.sections, asked.sections) == (("b.example",), ("-x",), ("-y",))
    pairs = asked.to_url_params(SETTINGS)
    assert pairs == [("q", "a"), ("site", "a.example"), ("section", "-y"), ("-site", "b.example"), ("-section", "-x")]
    assert ask(*pairs) == asked and asked.is_filtered() and not asked.without_filters().is_filtered()
    assert asked.active_filter_params() == ("site", "section", "-site", "-section")


def test_a_value_is_selected_or_excluded_but_never_both() -> None:
    excluded = ask(("q", "a"), ("site", "a.example"), ("page", "2")).with_toggled(
        "sites", "a.example", is_exclusion=True
    )
    assert (excluded.sites, excluded.exclusions.sites, excluded.page) == ((), ("a.example",), 1)
    selected = excluded.with_toggled("sites", "a.example")
    assert (selected.sites, selected.exclusions.sites) == (("a.example",), ())
    assert excluded.with_toggled("sites", "a.example", is_exclusion=True).exclusions.sites == ()
