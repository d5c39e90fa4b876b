"""What the services of one request work with, and what a process remembers between requests."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

from domain.term import Lexicon
from search_ui.glossary import DefinedTermsCache, Glossary, GlossaryCache
from search_ui.interfaces import AppliedLexicon, SiteBackend
from search_ui.query.curation import Curation, CurationCache, CurationRules
from search_ui.query.display_text import clean_text
from search_ui.query.search import IndexState, SearchService
from search_ui.query.search_request import CursorCodec, SearchRequest
from search_ui.query.semantic.hybrid import QueryVectors
from search_ui.query.solr_client import SolrBackend
from search_ui.settings import SearchSettings
from search_ui.spelling.vocabulary import Vocabulary
from search_ui.vocabulary_cache import VocabularyCache
from text.segment import Segmenter


@dataclass
class SiteCaches:
    """What a process of the site remembers between requests. Thread-safe."""

    vocabulary: VocabularyCache = field(default_factory=VocabularyCache)
    glossary: GlossaryCache = field(default_factory=GlossaryCache)
    defined_terms: DefinedTermsCache = field(default_factory=DefinedTermsCache)
    index_state: IndexState = field(default_factory=IndexState)
    curation: CurationCache = field(default_factory=CurationCache)


@dataclass(frozen=True)
class SiteServices:
    """What the services of one request work with.

    `clock` returns epoch seconds; `secret` signs cursors. `is_limited`: `solr` and `backend` leave out articles that
    only signed-in readers find.
    """

    settings: SearchSettings
    solr: SolrBackend
    backend: SiteBackend
    query_vectors: QueryVectors
    caches: SiteCaches
    clock: Callable[[], float]
    secret: bytes
    is_limited: bool = False

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The latest vocabulary, the same throughout the request."""
        return self.caches.vocabulary.get_vocabulary(self.solr, self.backend, self.lexicon)

    @cached_property
    def applied_lexicon(self) -> AppliedLexicon:
        """The version of the indexed documents and its segmenter, the same throughout the request."""
        return self.backend.applied_lexicon()

    @property
    def lexicon(self) -> Lexicon:
        """The version of the indexed documents."""
        return self.applied_lexicon.lexicon

    @property
    def segmenter(self) -> Segmenter:
        """The segmenter of the indexed documents."""
        return self.applied_lexicon.segmenter

    @cached_property
    def glossary(self) -> Glossary:
        """The published terms, the same throughout the request."""
        return self.caches.glossary.get_glossary(self.lexicon, self.backend)

    @cached_property
    def curation_rules(self) -> CurationRules:
        """The rules of editors, the same throughout the request."""
        return self.caches.curation.get_rules(self.backend.curation_revision, self.backend.curation_rules)

    def find_curation(self, request: SearchRequest) -> Curation:
        """Return the rules of editors that apply to a search."""
        thesaurus = self.caches.vocabulary.get_thesaurus(self.lexicon)
        return self.curation_rules.curate(request, thesaurus, self.clock())

    @cached_property
    def search(self) -> SearchService:
        """The search service with the current settings."""
        return SearchService(
            self.solr,
            self.segmenter,
            self.settings,
            CursorCodec(self.secret, self.settings),
            self.caches.vocabulary.get_thesaurus(self.lexicon),
            self.query_vectors,
            lambda text: self.glossary.has_term(text),
            lambda: self.vocabulary,
            self.caches.index_state,
            find_curation=self.find_curation,
            is_limited=self.is_limited,
        )

    def with_page_size(self, page_size: int) -> Self:
        """Return the services for pages of another length."""
        return replace(self, settings=replace(self.settings, page_size=page_size))

    def display_name(self, term: str) -> str:
        """Return a term in its usual spelling."""
        return clean_text(self.vocabulary.display_form(term))
