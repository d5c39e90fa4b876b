"""The search service of the current request."""

from flask import current_app

from search_ui.context import current_site
from search_ui.query.cursors import CursorCodec
from search_ui.query.search import SearchService
from search_ui.vocabulary_cache import current_vocabulary, current_vocabulary_cache


def current_search_service() -> SearchService:
    """Build the search service for the current request."""
    site, secret = current_site(), current_app.secret_key
    key = secret if isinstance(secret, bytes) else str(secret).encode()
    return SearchService(
        site.solr,
        site.backend,
        site.settings,
        CursorCodec(key, site.settings),
        current_vocabulary_cache().get_thesaurus(site.backend.lexicon()),
        site.query_vectors,
        current_vocabulary,
        site.index_state,
    )
