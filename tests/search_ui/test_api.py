"""The JSON API, validated against its OpenAPI document."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

import search_ui
from domain.article import ARTICLE_FIELDS, ArticleField, PageType
from domain.errors import SolrError, SolrUnavailableError
from search_ui.api import with_article_fields
from search_ui.i18n import has_name
from search_ui.query.score_explanation import PART_NAMES
from search_ui.query.search_request import DISPLAY_ORDER, FILTER_NAMES
from search_ui.settings import SearchSettings
from tests.site_fixture import FakeSearch, document, site_app

DESCRIPTION: dict[str, Any] = json.loads(
    (Path(search_ui.__file__).parent / "static" / "openapi.json").read_text(encoding="utf-8")
)
KINDS = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "null": type(None)}
DOCUMENTS = [document(n, f"页岩气之{n}", "四川页岩气。", site=f"s{n % 2}.example") for n in range(25)]


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return DESCRIPTION["components"]["schemas"][name] if name else schema  # type: ignore[no-any-return]


def fits(value: object, schema: dict[str, Any]) -> bool:
    """Return True if `value` matches `schema` exactly. Supports the JSON Schema keywords that the document uses."""
    schema = resolved(schema)
    if "oneOf" in schema:
        return any(fits(value, one) for one in schema["oneOf"])
    if schema["type"] == "object":
        properties: dict[str, Any] = schema["properties"]
        if not isinstance(value, dict) or not set(value) == set(properties) == set(schema["required"]):
            return False
        return all(fits(value[name], one) for name, one in properties.items())
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if isinstance(value, list) and "array" in kinds:
        return all(fits(one, schema["items"]) for one in value)
    right_kind = any(isinstance(value, KINDS[kind]) for kind in kinds)  # type: ignore[arg-type]
    return right_kind and value in schema.get("enum", [value])


def client(search: FakeSearch | None = None) -> FlaskClient:
    settings = SearchSettings(developer_tools=True)
    return site_app(search or FakeSearch(DOCUMENTS), settings=settings).test_client()


def schema_of(path: str, status: str) -> dict[str, Any]:
    answer = DESCRIPTION["paths"][path]["get"]["responses"][status]
    answer = DESCRIPTION["components"]["responses"].get(answer.get("$ref", "").rpartition("/")[2], answer)
    return answer["content"]["application/json"]["schema"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("address", "path", "status"),
    [
        ("/search?q=页岩气&site=s1.example", "/search", 200),
        ("/search?q=", "/search", 200),
        ("/articles/doc1", "/articles/{id}", 200),
        ("/articles/doc1?q=页岩气", "/articles/{id}", 200),
        ("/suggest?q=页", "/suggest", 200),
        ("/compare?q=页岩气", "/compare", 200),
        ("/search?q=a&page=0", "/search", 400),
        ("/search?q=a&page=11", "/search", 400),
        ("/search?q=a&cursor=x", "/search", 400),
        ("/articles/doc99", "/articles/{id}", 404),
        ("/articles/{!func}", "/articles/{id}", 404),
        ("/nowhere/at/all", "/articles/{id}", 404),
    ],
)
def test_answers_are_as_described(address: str, path: str, status: int) -> None:
    response = client().get(f"/api/v1{address}")
    assert response.status_code == status and response.mimetype == "application/json", response.text
    assert fits(response.json, schema_of(path, str(status))), response.text


def test_every_content_type_is_described() -> None:
    [parameter] = [one for one in DESCRIPTION["paths"]["/search"]["get"]["parameters"] if one.get("name") == "type"]
    named = re.findall(r"\w+", parameter["description"].partition("(")[2].partition(")")[0])
    assert named == [*PageType]


def test_every_described_path_exists_and_every_path_is_described() -> None:
    rules = {str(rule) for rule in site_app().url_map.iter_rules() if str(rule).startswith("/api/v1/")}
    described = {
        f"/api/v1{path}".replace("{id}", "<doc_id>").replace("{name}", "<path:name>") for path in DESCRIPTION["paths"]
    }
    assert rules - {"/api/v1/<path:rest>"} == described
    assert client().get("/api/v1").json == DESCRIPTION


def test_every_parameter_of_a_search_is_described() -> None:
    described = {one["name"] for one in DESCRIPTION["paths"]["/search"]["get"]["parameters"]}
    assert described == {
        "q", "site", "section", "language", "author", "type", "filetype", "term", "cluster", "from", "to", "sort",
        "profile", "page", "cursor", "format", "related",
        "-site", "-section", "-language", "-author", "-type", "-filetype", "-term",
    }  # fmt: skip
    named = DESCRIPTION["components"]["schemas"]["Explanation"]["properties"]["parts"]["items"]
    assert set(named["properties"]["part"]["enum"]) == set(PART_NAMES)


def test_the_next_page_is_named_until_there_is_none() -> None:
    settings = SearchSettings(page_size=2, deepest_result=26)
    reader = site_app(FakeSearch(DOCUMENTS), settings=settings).test_client()
    address, ids = "/api/v1/search?q=页岩气", list[str]()
    while address:
        answer = reader.get(address).json
        ids += [hit["id"] for hit in answer["hits"]]
        address = answer["next"] or ""
    assert len(ids) == len(set(ids)) == 25


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (SolrUnavailableError("10.1.2.3 refuses"), 503, "unavailable"),
        (SolrError("too many clauses in 10.1.2.3"), 400, "refused"),
    ],
)
def test_errors_have_a_code_and_tell_nothing_of_the_inside(error: SolrError, status: int, code: str) -> None:
    for address in ("/api/v1/search?q=a", "/api/v1/articles/doc1", "/api/v1/compare?q=a"):
        response = client(FakeSearch(error=error)).get(address)
        assert response.status_code == status and response.json["error"]["code"] == code
        assert "10.1.2.3" not in response.text
        assert ("Retry-After" in response.headers) == (status == 503)


def test_codes_are_the_same_in_every_language() -> None:
    reader = client()
    told = [reader.get(f"/api/v1/search?q=a&from=x&lang={lang}").json["error"] for lang in ("zh", "en")]
    assert [one["code"] for one in told] == ["date", "date"]
    assert told[0]["message"] != told[1]["message"]


def test_a_wrong_method_is_told_as_json() -> None:
    response = client().post("/api/v1/search")
    assert response.status_code in (400, 405) and response.json["error"]["code"]


def test_the_page_gives_the_same_as_json() -> None:
    reader = client()
    page, told = (reader.get(path).json for path in ("/search?q=页岩气&format=json", "/api/v1/search?q=页岩气"))
    assert page | {"took_ms": 0} == told | {"took_ms": 0}


def test_a_declared_field_is_described() -> None:
    described = json.dumps(DESCRIPTION)
    assert with_article_fields(json.loads(described), ARTICLE_FIELDS) == DESCRIPTION
    declared = {"licence": ArticleField(solr_name="licence", facet="licences", parameter="licence", is_detail=True)}
    document = with_article_fields(json.loads(described), declared)
    schemas = document["components"]["schemas"]
    for schema, name in ((schemas["Article"], "licence"), (schemas["Results"]["properties"]["facets"], "licences")):
        assert name in schema["properties"] and name in schema["required"]
    names = [one.get("name") for one in document["paths"]["/search"]["get"]["parameters"]]
    assert names.count("licence") == names.count("-licence") == names.count("section") == 1


def test_every_declared_filter_has_its_fields_and_labels() -> None:
    facets = {declared.facet for declared in ARTICLE_FIELDS.values() if declared.facet}
    assert facets | {"sites", "terms"} == set(FILTER_NAMES) == set(DISPLAY_ORDER)
    assert all(has_name("facet", name) for name in FILTER_NAMES)
    assert all(has_name("field", name) for name, declared in ARTICLE_FIELDS.items() if declared.is_detail)
