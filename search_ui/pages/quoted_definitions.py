"""Definitions as quotations, with the article that each is from."""

from collections.abc import Sequence
from dataclasses import dataclass

from domain.article import document_id
from domain.term import Definition
from search_ui.context import current_site
from search_ui.pages.article import RelatedArticle, parse_related
from search_ui.pages.term_usage import articles_by_id_params
from search_ui.query.display_text import safe_url


@dataclass(frozen=True)
class QuotedDefinition:
    """A definition, quoted. `article` is its article if the index has it: only then there is a page with a saved copy.

    `safe_url` is "" if the URL of the source is not safe to follow, or if a reviewer wrote the definition.
    """

    definition: Definition
    safe_url: str
    article: RelatedArticle | None


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
        QuotedDefinition(definition, safe_url(definition.url), article_by_id.get(doc_id))
        for definition, doc_id in zip(definitions, doc_ids, strict=True)
    ]
