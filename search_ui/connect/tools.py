"""The tools that agents call: search, fetch, term and explain. Each takes JSON arguments and returns JSON."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flask import g
from werkzeug.datastructures import MultiDict

from domain.errors import PlumblineError
from search_ui.connect.token_budget import MAX_ANSWER_TOKENS, estimate_json_tokens, iter_parts, shorten
from search_ui.context import current_services, external_url
from search_ui.glossary import GlossaryTerm
from search_ui.query.query_plan import QueryPlan
from search_ui.query.ranking import PROFILES
from search_ui.query.results import ArticleSummary, Hit, SearchPage, plain_text
from search_ui.query.score_explanation import RankExplanation
from search_ui.query.search import SearchService
from search_ui.query.search_request import parse_search_request
from search_ui.services.articles import ArticleDetails, find_article, is_doc_id, load_article
from search_ui.services.definitions import QuotedDefinition
from search_ui.services.terms import find_term

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
    service, plan, page = _search(arguments)
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


def _search(arguments: Mapping[str, Any]) -> tuple[SearchService, QueryPlan, SearchPage]:
    """Return the search service for short pages, the plan of the search and its page. Raises BadSearchRequestError."""
    service = current_services().with_page_size(RESULTS_PER_PAGE).search
    url_arguments = MultiDict({"q" if name == "query" else name: str(value) for name, value in arguments.items()})
    return service, *service.search(parse_search_request(url_arguments, service.settings, PROFILES))


def _list_corrections(service: SearchService, plan: QueryPlan, page: SearchPage) -> list[str]:
    """Return other queries, and for the same query with fewer filters the arguments to leave out."""
    answers = []
    for suggestion in page.suggestions:
        query = shorten(suggestion.request.raw_query, MAX_WORD_TOKENS)
        before, after = (
            dict(request.to_url_params(service.settings)) for request in (plan.request, suggestion.request)
        )
        left_out = ", ".join(sorted(before.keys() - after.keys() - {"page"}))
        answers.append(f"{query} (without {left_out})" if left_out else query)
    return answers[:5]


def _hits_to_json(hits: Sequence[Hit]) -> list[JsonDict]:
    citations = cite_articles(hits)
    return [
        {
            **citation,
            **({"related": True} if hit.is_partial else {}),
            **({"recommended": True} if hit.is_recommended else {}),
            "snippet": plain_text(hit.snippet),
        }
        for hit, citation in zip(hits, citations, strict=True)
    ]


def cite_articles(articles: Sequence[ArticleSummary]) -> list[JsonDict]:
    """Return what citations of articles need. `saved_copy` is the copy on this site, if there is one to show."""
    site, doc_ids = current_services(), [article.doc_id for article in articles]
    copy_ids = site.backend.originals.find_ids(doc_ids) if site.settings.originals and doc_ids else ()
    return [_build_citation(article, article.doc_id in copy_ids) for article in articles]


def _build_citation(article: ArticleSummary, has_copy: bool) -> JsonDict:
    doc_id, is_citable = article.doc_id, 0 < len(article.safe_url) <= MAX_URL_CHARS
    return {
        "id": doc_id,
        "title": shorten(article.plain_title, MAX_TITLE_TOKENS),
        "url": article.safe_url if is_citable else external_url("public.article", doc_id=doc_id),
        "site": shorten(article.site_name, MAX_WORD_TOKENS),
        "date": article.published,
        **({"saved_copy": external_url("originals.show_original", doc_id=doc_id)} if has_copy else {}),
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
    [citation] = cite_articles([article])
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
    doc_id = current_services().backend.document_id(id_or_url) if "://" in id_or_url else id_or_url
    if is_doc_id(doc_id) and (article := find_article(current_services().search, doc_id)):
        return article
    raise ToolError("there is no such article: use an id or url from the results of search")


def look_up_term(arguments: Mapping[str, Any]) -> JsonDict:
    """Return a published term with definitions as citations. Raises ToolError if the lexicon does not have it."""
    name = str(arguments["name"])
    published = find_term(current_services(), name)
    if published is None:
        similar = _list_names(current_services().glossary.select_terms(name)) if name.strip() else []
        raise ToolError(f"the lexicon has no such term; similar terms: {', '.join(similar) or 'none'}")
    term, quotes = published.term, published.definitions[:MAX_DEFINITIONS]
    answer: JsonDict = {
        "name": published.label,
        "class": term.category,
        "synonyms": _limit_words(term.synonyms),
        "broader": _limit_words(term.broader_terms),
        "narrower": _list_names(published.narrower),
        "related": _list_names(published.related),
        "url": external_url("glossary.term", name=term.text),
        "definitions": _definitions_to_json(quotes),
    }
    if len(published.definitions) > len(quotes):
        answer["continuation"] = f"{len(published.definitions)} definitions in all: see url"
    _fit_texts(answer, answer["definitions"], "text")
    return answer


def _list_names(terms: Sequence[GlossaryTerm]) -> list[str]:
    return _limit_words([other.text for other in terms[:MAX_TERMS]])


def _definitions_to_json(quotes: Sequence[QuotedDefinition]) -> list[JsonDict]:
    articles = [quote.article for quote in quotes if quote.article]
    citation_by_id = {citation["id"]: citation for citation in cite_articles(articles)}
    return [
        {
            "text": quote.definition.sentence,
            **(citation_by_id[quote.article.doc_id] if quote.article else _cite_source(quote)),
        }
        for quote in quotes
    ]


def _cite_source(quote: QuotedDefinition) -> JsonDict:
    """Return the citation of a definition whose article the index does not have."""
    title, url = shorten(quote.definition.title, MAX_TITLE_TOKENS), quote.safe_url[:MAX_URL_CHARS]
    return {"title": title, "url": url, "date": quote.definition.published}


def explain_search(arguments: Mapping[str, Any]) -> JsonDict:
    """Return how a query was understood; with `id`, the parts of the score of an article."""
    service, plan, page = _search({name: value for name, value in arguments.items() if name != "id"})
    answer: JsonDict = {
        "query": shorten(plan.request.raw_query, MAX_QUERY_TOKENS),
        "words": _limit_words(plan.words.domain),
        "required_words": _limit_words(plan.words.content),
        "synonyms": _limit_words(plan.words.synonyms),
        "conditions": _limit_words([str(part) for part in plan.request.parsed_query.conditions]),
    }
    if "id" not in arguments:
        counts = {"total": page.total, "related": max(0, page.match_count - page.total)}
        return {**answer, **counts, "suggestions": _list_corrections(service, plan, page)}
    article = _fetch_article(str(arguments["id"]))
    view = load_article(service, article.doc_id, plan.request)
    return {
        **answer,
        "article": cite_articles([article])[0],
        **_explanation_to_json(view.explanation if view else None),
    }


def _limit_words(words: Sequence[str]) -> list[str]:
    return [shorten(word, MAX_WORD_TOKENS) for word in words[:MAX_TERMS]]


def _explanation_to_json(explanation: RankExplanation | None) -> JsonDict:
    if explanation is None or not explanation.parts:
        return {"score": 0, "parts": []}
    parts = [{"part": part.name, "percent": part.percent, "terms": list(part.terms)[:5]} for part in explanation.parts]
    if not explanation.has_scores:
        return {"parts": [{name: part[name] for name in ("part", "terms")} for part in parts]}
    return {"score": round(explanation.score, 2), "parts": parts}


TOOLS: Mapping[str, Callable[[Mapping[str, Any]], JsonDict]] = {
    "search": search_articles,
    "fetch": read_article,
    "term": look_up_term,
    "explain": explain_search,
}
"""Tool name -> function."""
