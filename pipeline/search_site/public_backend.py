"""What the public pages of the search site get from the store: implements `SiteBackend` of `search_ui`."""

from domain.run import RunHistory
from pipeline.engine import Engine
from pipeline.explain.diagnosis_service import StorePageDiagnosis
from pipeline.lexicon_stage.lexicon_review import LexiconReview
from pipeline.runs.run_history import load_run_history
from pipeline.search_site.administration import MAX_RUNS_SHOWN
from search_ui.interfaces import AppliedLexicon, FollowTools, OriginalStore


class StoreSiteBackend:
    """Site backend on the store. After a publish the index follower (serve.py) reindexes."""

    def __init__(self, engine: Engine) -> None:
        store = engine.store
        self._engine = engine
        self.review = LexiconReview(store)
        self.find_page, self.published_term_states = store.review_queue.find_page, store.lexicons.published_term_states
        self.first_version, self.find_by_concept = store.lexicons.first_version, store.review_queue.find_by_concept
        self.public_definitions, self.defined_terms = store.definitions.find_public, store.definitions.document_counts
        self.definitions_revision = store.relations.search_state
        self.find_concept, self.list_related = self.review.find_concept, store.relations.list_related
        self.rising_terms = store.rising_terms.load
        self.last_decision_id = store.review_history.last_decision_id
        self.find_takedown = store.takedowns.find_document
        self.curation_revision, self.curation_rules = store.curation.revision, store.curation.load_all
        self.document_id = StorePageDiagnosis(engine).document_id

    def run_history(self) -> RunHistory:
        return load_run_history(self._engine, MAX_RUNS_SHOWN)

    def applied_lexicon(self) -> AppliedLexicon:
        analysis = self._engine.analysis()
        return AppliedLexicon(analysis.lexicon, analysis.domain_segmenter)

    def count_pending_documents(self) -> int:
        return self._engine.store.change_log.pending_document_count()

    def may_have_thumbnail(self, article_url: str, picture_url: str) -> bool:
        return self._engine.open_thumbnails(self._engine.settings.current().crawl).may_have(article_url, picture_url)

    def thumbnail(self, article_url: str, picture_url: str) -> bytes | None:
        return self._engine.open_thumbnails(self._engine.settings.current().crawl).get(article_url, picture_url)

    @property
    def originals(self) -> OriginalStore:
        originals = self._engine.originals
        return OriginalStore(originals.find, originals.find_ids, originals.sanitized_html, originals.file_bytes)

    @property
    def follows(self) -> FollowTools:
        from pipeline.follows.tools import follow_tools  # imported late because it loads smtplib

        return follow_tools(self._engine)

    def popular_queries(self, limit: int) -> list[str]:
        return self._engine.store.search_log.popular_queries(limit)
