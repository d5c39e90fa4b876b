"""Definitions as quotations, with the article that each is from."""

from collections.abc import Sequence
from dataclasses import dataclass

from domain.article import document_id
from domain.term import Definition
from search_ui.context import current_site
from search_ui.local_dates import format_day
from search_ui.pages.article import RelatedArticle, parse_related
from search_ui.pages.term_usage import articles_by_id_params
from search_ui.query.display_text import safe_url


@dataclass(frozen=True)
class QuotedDefinition:
    """A definition, quoted. `article` is its article if the index has it: only then there is a page with a saved copy.

    `safe_url` is "" if the URL of the source is not safe to follow, or if a reviewer wrote the definition.
    `copy_id` is the id of the article, and `copy_date` the ISO date of its saved copy, if the article is gone and the
    copy can be shown; otherwise "".
    """

    definition: Definition
    safe_url: str
    article: RelatedArticle | None
    copy_id: str = ""
    copy_date: str = ""


def fetch_definitions(text: str) -> list[QuotedDefinition]:
    """Fetch the definitions of a term for readers, best first. Raises what `SolrBackend.select` raises."""
    return quote_definitions(current_site().backend.review_service.definitions(text))


def quote_definitions(definitions: Sequence[Definition]) -> list[QuotedDefinition]:
    """Fetch the articles of definitions. Raises what `SolrBackend.select` raises."""
    site = current_site()
    doc_ids = [document_id(definition.url) if definition.url else "" for definition in definitions]
    known_ids = [doc_id for doc_id in doc_ids if doc_id]
    articles = parse_related(site.solr.select(articles_by_id_params(known_ids)), site.settings) if known_ids else ()
    article_by_id = {article.doc_id: article for article in articles}
    return [
        _quote_definition(definition, doc_id, article_by_id.get(doc_id))
        for definition, doc_id in zip(definitions, doc_ids, strict=True)
    ]


def _quote_definition(definition: Definition, doc_id: str, article: RelatedArticle | None) -> QuotedDefinition:
    site = current_site()
    can_have_copy = definition.is_source_gone and doc_id and site.settings.originals
    saved_copy = site.backend.originals.find(doc_id) if can_have_copy else None
    return QuotedDefinition(
        definition,
        safe_url(definition.url),
        article,
        doc_id if saved_copy else "",
        format_day(saved_copy.fetched_at) if saved_copy else "",
    )
