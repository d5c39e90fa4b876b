"""The external knowledge API of Dify: `POST /retrieval` returns passages of articles for a query.

Request and response are those of https://docs.dify.ai/en/guides/knowledge-base/external-knowledge-api.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from flask import Response, g, jsonify, request
from werkzeug.exceptions import RequestEntityTooLarge

from search_ui.api_tokens import ApiScope, check_api_token, read_bearer_token
from search_ui.connect.token_budget import iter_parts
from search_ui.connect.tools import JsonDict, cite_articles
from search_ui.context import current_services
from search_ui.query.display_text import normalize_query
from search_ui.query.results import Hit, plain_text
from search_ui.query.search_request import SearchRequest
from search_ui.query.solr_client import documents
from search_ui.query.solr_requests import body_params
from solr_client import solr_fields

KNOWLEDGE_ID = "all"  # the whole index
MAX_RECORDS = 20
DEFAULT_RECORDS = 4
PASSAGE_TOKENS = 600
FULL_MATCH_SCORE = 0.5  # the minimum score of an article with all words of the query
_MATCH_KEY_CHARS = 20  # of a passage without marks, to find it in the text


class RetrievalError(Exception):
    """A request that Dify shall report: HTTP status, error code of Dify, message."""

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


class RetrievalRequest(NamedTuple):
    """A parsed request. `score_threshold` is between 0 and 1."""

    query: str
    top_k: int
    score_threshold: float

    @classmethod
    def from_json(cls, body: object) -> "RetrievalRequest":
        """Parse the body of a request. Raises RetrievalError if it is not one that the site can answer."""
        if not isinstance(body, Mapping) or not isinstance(body.get("query"), str):
            raise RetrievalError(400, 400, "The body needs the string query.")
        if body.get("knowledge_id") != KNOWLEDGE_ID:
            raise RetrievalError(404, 2001, f"The knowledge does not exist. Use the ID {KNOWLEDGE_ID}.")
        if body.get("metadata_condition"):
            raise RetrievalError(400, 400, "metadata_condition is not supported. Remove the metadata filter.")
        setting = body.get("retrieval_setting")
        options = setting if isinstance(setting, Mapping) else {}
        try:
            top_k = int(options.get("top_k") or DEFAULT_RECORDS)
            score_threshold = float(options.get("score_threshold") or 0)
        except (TypeError, ValueError, OverflowError) as error:
            raise RetrievalError(400, 400, "top_k and score_threshold must be numbers.") from error
        if not 0 <= score_threshold <= 1:  # also NaN
            raise RetrievalError(400, 400, "score_threshold must be between 0 and 1.")
        return cls(body["query"], max(1, min(top_k, MAX_RECORDS)), score_threshold)


def retrieve() -> Response:
    """Return the records for the current request, or an error in the format of Dify."""
    try:
        if not read_bearer_token():  # Dify sends one with every request
            message = "Invalid Authorization header format. Expected 'Bearer <api-key>' format."
            raise RetrievalError(403, 1001, message)
        if check_api_token(ApiScope.SEARCH) is not None:
            raise RetrievalError(403, 1002, "Authorization failed. Check the API token and its scope.")
        records = _find_records(RetrievalRequest.from_json(_read_body()))
    except RetrievalError as error:
        response = jsonify(error_code=error.code, error_msg=str(error))
        response.status_code = error.status
        return response
    return jsonify(records=records)


def _read_body() -> object:
    """Return the parsed body, None if it is no JSON. Raises RetrievalError if it is too large or nested too deeply."""
    try:
        return request.get_json(force=True, silent=True)
    except (RecursionError, RequestEntityTooLarge) as error:
        status = getattr(error, "code", 400)
        raise RetrievalError(status, status, "The body is too large or nested too deeply.") from error


def _find_records(retrieval: RetrievalRequest) -> list[dict[str, Any]]:
    service = current_services().with_page_size(retrieval.top_k).search
    text = normalize_query(retrieval.query, service.settings.longest_query)
    request = SearchRequest(raw_query=retrieval.query, text=text, profile=service.settings.profile)
    page = service.execute(service.plan(request))
    g.hits = page.match_count
    scored_hits = [
        (hit, score)
        for index, hit in enumerate(page.hits[: retrieval.top_k])
        if (score := rank_score(index, retrieval.top_k, hit.is_partial)) >= retrieval.score_threshold
    ]
    if not scored_hits:
        return []
    docs = documents(service.solr.select(body_params([hit.doc_id for hit, _ in scored_hits])))
    body_by_id = {str(doc[solr_fields.ID]): str(doc.get(solr_fields.BODY, "")) for doc in docs}
    citations = cite_articles([hit for hit, _ in scored_hits])
    return [
        _to_record(hit, score, body_by_id.get(hit.doc_id, ""), citation)
        for (hit, score), citation in zip(scored_hits, citations, strict=True)
    ]


def rank_score(index: int, count: int, is_partial: bool) -> float:
    """Return the score of the result at `index`, from 0, of at most `count`.

    Scores of different queries are not comparable, so the score only states the rank and the kind of match: 1 to 0.5
    for an article with all words of the query, below 0.5 for a related one.
    """
    fall = FULL_MATCH_SCORE * index / count
    return round((FULL_MATCH_SCORE * (1 - 1 / (count + 1)) if is_partial else 1.0) - fall, 4)


def _to_record(hit: Hit, score: float, body: str, citation: JsonDict) -> JsonDict:
    """Return a record with the part of the text that has the most words of the query."""
    keys = {segment.text for segment in hit.snippet if segment.marked}
    keys = keys or {plain_text(hit.snippet)[:_MATCH_KEY_CHARS]}
    parts = iter_parts(body, PASSAGE_TOKENS)
    content = max(parts, key=lambda part: sum(key in part for key in keys), default=plain_text(hit.snippet))
    metadata = {name: value for name, value in citation.items() if name != "title"}
    return {"content": content, "score": score, "title": citation["title"], "metadata": metadata}
