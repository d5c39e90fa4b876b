"""The tools that agents call: search, fetch, term and explain. Each takes JSON arguments and returns JSON."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from flask import g
from werkzeug.datastructures import MultiDict

from domain.errors import PlumblineError
from search_ui.connect.token_budget import MAX_ANSWER_TOKENS, estimate_json_tokens, iter_parts, shorten
from search_ui.context import current_site, external_url
from search_ui.glossary import GlossaryTerm, current_glossary
from search_ui.pages.article import ArticleDetails, is_doc_id
from search_ui.pages.article_loader import find_article, load_article
from search_ui.pages.glossary_views import display_name, find_related_terms
from search_ui.pages.quoted_definitions import QuotedDefinition, fetch_definitions
from search_ui.pages.search_service import current_search_service
from search_ui.query.display_text import safe_url
from search_ui.query.query_plan import QueryPlan
from search_ui.query.ranking import PROFILES
from search_ui.query.results import Hit, SearchPage, plain_text
from search_ui.query.score_explanation import RankExplanation
from search_ui.query.search import SearchService
from search_ui.query.search_request import parse_search_request

JsonDict = dict[str, Any]

RESULTS_PER_PAGE = 6  # so that the citations leave room for snippets
PART_TOKENS = 1600  # of the text of an article in one answer
MAX_TITLE_TOKENS = 80
MAX_URL_CHARS = 300  # the page of the article on this site is cited instead of a longer URL
MAX_QUERY_TOKENS = 100  # of the repeated query
MAX_TERMS = 20  # of each relation
MAX_WORD_TOKENS = 20  # of a name in a list
MAX_DEFINITIONS = 3


class ToolError(PlumblineError):
    """A tool cannot answer. The text says why, in English."""


def search_articles(arguments: Mapping[str, Any]) -> JsonDict:
    """Return one page of results with citations. Raises what `SearchService.execute` raises."""
    service, plan = _parse_request(arguments)
    page = service.execute(plan)
    g.hits = page.match_count
    answer: JsonDict = {
        "query": shorten(plan.request.raw_query, MAX_QUERY_TOKENS),
        "total": page.total,
        "results": _hits_to_json(page.hits),
    }
    if not page.total:
        answer["suggestions"] = _list_corrections(service, plan, page)
    if page.page < page.numbered_pages:
        answer["continuation"] = (
            f"page {page.page} of {page.numbered_pages}: call search again with page={page.page + 1}"
        )
    _fit_texts(answer, answer["results"], "snippet")
    return answer


def _parse_request(arguments: Mapping[str, Any]) -> tuple[SearchService, QueryPlan]:
    """Return the search service for short pages, and the plan of the search. Raises BadSearchRequestError."""
    settings = replace(current_site().settings, page_size=RESULTS_PER_PAGE)
    url_arguments = MultiDict({"q" if name == "query" else name: str(value) for name, value in arguments.items()})
    service = replace(current_search_service(), settings=settings)
    request = service.resolve_exact_title(parse_search_request(url_arguments, settings, PROFILES))
    return service, service.plan(request)


def _list_corrections(service: SearchService, plan: QueryPlan, page: SearchPage) -> list[str]:
    suggestions = service.suggest_alternatives(plan, page)
    return [shorten(suggestion.request.raw_query, MAX_WORD_TOKENS) for suggestion in suggestions][:5]


def _hits_to_json(hits: Sequence[Hit]) -> list[JsonDict]:
    citations = cite_hits(hits)
    return [
        {**citation, **({"related": True} if hit.is_partial else {}), "snippet": plain_text(hit.snippet)}
        for hit, citation in zip(hits, citations, strict=True)
    ]


def cite_hits(hits: Sequence[Hit]) -> list[JsonDict]:
    """Return the citations of results."""
    copy_ids = _find_copies([hit.doc_id for hit in hits])
    return [
        _build_citation(hit.doc_id, hit.plain_title, hit.safe_url, hit.site_name, hit.published, copy_ids)
        for hit in hits
    ]


def _find_copies(doc_ids: Collection[str]) -> Collection[str]:
    """Return the ids of those articles whose saved copy this site can show."""
    site = current_site()
    return site.backend.originals.find_ids(doc_ids) if site.settings.originals and doc_ids else ()


def _build_citation(
    doc_id: str, title: str, url: str, site_name: str, published: str, copy_ids: Collection[str]
) -> JsonDict:
    """Return what a citation needs. `saved_copy` is the copy on this site; articles with `copy_ids` have one."""
    copy = {"saved_copy": external_url("originals.show_original", doc_id=doc_id)} if doc_id in copy_ids else {}
    is_citable = 0 < len(url) <= MAX_URL_CHARS
    return {
        "id": doc_id,
        "title": shorten(title, MAX_TITLE_TOKENS),
        "url": url if is_citable else external_url("public.article", doc_id=doc_id),
        "site": shorten(site_name, MAX_WORD_TOKENS),
        "date": published,
        **copy,
    }


def _fit_texts(answer: JsonDict, items: list[JsonDict], key: str) -> None:
    """Shorten the texts under `key` evenly until the answer is within the budget."""
    texts = [item[key] for item in items]
    for item in items:
        item[key] = ""
    remaining = MAX_ANSWER_TOKENS - estimate_json_tokens(answer)
    for index, (item, text) in enumerate(zip(items, texts, strict=True)):
        item[key] = shorten(text, max(1, remaining // (len(items) - index)))
        remaining -= estimate_json_tokens(item[key])


def read_article(arguments: Mapping[str, Any]) -> JsonDict:
    """Return one part of the text of an article. Raises ToolError if there is no such article or part."""
    article = _fetch_article(str(arguments["id"]))
    text = "\n".join(plain_text(paragraph) for paragraph in article.paragraphs)
    parts = list(iter_parts(text, PART_TOKENS)) or [""]
    number = int(arguments.get("part", 1))
    if not 1 <= number <= len(parts):
        raise ToolError(f"there is no part {number}: the article has parts 1 to {len(parts)}")
    citation = _cite_article(article)
    metadata = {name: citation[name] for name in ("site", "date", "saved_copy") if name in citation}
    answer: JsonDict = {
        "id": article.doc_id,
        "title": citation["title"],
        "text": parts[number - 1],
        "url": citation["url"],
        "metadata": {**metadata, "language": article.language, "part": number, "parts": len(parts)},
    }
    if number < len(parts):
        answer["continuation"] = f"part {number} of {len(parts)}: call fetch with part={number + 1}"
    return answer


def _fetch_article(id_or_url: str) -> ArticleDetails:
    doc_id = current_site().backend.page_diagnosis.document_id(id_or_url) if "://" in id_or_url else id_or_url
    if is_doc_id(doc_id) and (article := find_article(current_search_service(), doc_id)):
        return article
    raise ToolError("there is no such article: use an id or url from the results of search")


def _cite_article(article: ArticleDetails) -> JsonDict:
    copy_ids = _find_copies([article.doc_id])
    fields = (article.doc_id, article.plain_title, article.safe_url, article.site_name, article.published)
    return _build_citation(*fields, copy_ids)


def look_up_term(arguments: Mapping[str, Any]) -> JsonDict:
    """Return a published term with definitions as citations. Raises ToolError if the lexicon does not have it."""
    glossary, name = current_glossary(), str(arguments["name"])
    glossary_term = glossary.find(name)
    if glossary_term is None:
        similar = _list_names(glossary.select_terms(name)) if name.strip() else []
        raise ToolError(f"the lexicon has no such term; similar terms: {', '.join(similar) or 'none'}")
    definitions = fetch_definitions(glossary_term.text)
    quotes = definitions[:MAX_DEFINITIONS]
    copy_ids = _find_copies([quote.article.doc_id for quote in quotes if quote.article])
    answer: JsonDict = {
        "name": display_name(glossary_term.text),
        "class": glossary_term.category,
        "synonyms": [shorten(word, MAX_WORD_TOKENS) for word in glossary_term.synonyms[:MAX_TERMS]],
        "broader": [shorten(word, MAX_WORD_TOKENS) for word in glossary_term.broader_terms[:MAX_TERMS]],
        "narrower": _list_names(glossary.narrower_terms(glossary_term)),
        "related": _list_names(find_related_terms(glossary_term, glossary)),
        "url": external_url("glossary.term", name=glossary_term.text),
        "definitions": [_definition_to_json(quote, copy_ids) for quote in quotes],
    }
    if len(definitions) > len(quotes):
        answer["continuation"] = f"{len(definitions)} definitions in all: see url"
    _fit_texts(answer, answer["definitions"], "text")
    return answer


def _list_names(terms: Sequence[GlossaryTerm]) -> list[str]:
    return [shorten(other.text, MAX_WORD_TOKENS) for other in terms[:MAX_TERMS]]


def _definition_to_json(quote: QuotedDefinition, copy_ids: Collection[str]) -> JsonDict:
    definition, article = quote.definition, quote.article
    if article is None:
        source = {"title": shorten(definition.title, MAX_TITLE_TOKENS), "url": safe_url(definition.url)[:MAX_URL_CHARS]}
        return {"text": definition.sentence, **source, "date": definition.published}
    fields = (article.doc_id, article.title, article.safe_url, article.site_name, article.published)
    return {"text": definition.sentence, **_build_citation(*fields, copy_ids)}


def explain_search(arguments: Mapping[str, Any]) -> JsonDict:
    """Return how a query was understood; with `id`, the parts of the score of an article."""
    service, plan = _parse_request({name: value for name, value in arguments.items() if name != "id"})
    answer: JsonDict = {
        "query": shorten(plan.request.raw_query, MAX_QUERY_TOKENS),
        "words": _limit_words(plan.words.domain),
        "required_words": _limit_words(plan.words.content),
        "synonyms": _limit_words(plan.words.synonyms),
        "conditions": _limit_words([str(part) for part in plan.request.parsed_query.conditions]),
    }
    if "id" not in arguments:
        page = service.execute(plan)
        counts = {"total": page.total, "related": max(0, page.match_count - page.total)}
        return {**answer, **counts, "suggestions": _list_corrections(service, plan, page)}
    article = _fetch_article(str(arguments["id"]))
    view = load_article(service, article.doc_id, plan.request)
    return {**answer, "article": _cite_article(article), **_explanation_to_json(view.explanation if view else None)}


def _limit_words(words: Sequence[str]) -> list[str]:
    return [shorten(word, MAX_WORD_TOKENS) for word in words[:MAX_TERMS]]


def _explanation_to_json(explanation: RankExplanation | None) -> JsonDict:
    if explanation is None or not explanation.parts:
        return {"score": 0, "parts": []}
    parts = [{"part": part.name, "percent": part.percent, "terms": list(part.terms)[:5]} for part in explanation.parts]
    return {"score": round(explanation.score, 2), "parts": parts}


TOOLS: Mapping[str, Callable[[Mapping[str, Any]], JsonDict]] = {
    "search": search_articles,
    "fetch": read_article,
    "term": look_up_term,
    "explain": explain_search,
}
"""Tool name -> function."""
