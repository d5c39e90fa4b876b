"""Why single pages are or are not among the results, for the search site; and what an operator can do about it."""

from crawler.crawl_plan import build_crawl_plan
from crawler.robots.robots_txt import product_token
from crawler.urls.canonical import canonicalize_url, host_of, rejection_reason, url_origin
from domain.article import document_id
from domain.errors import PlumblineError
from domain.outcome import Reason
from pipeline.crawl_stage.manual_urls import add_manual_urls
from pipeline.engine import Engine
from pipeline.explain.linking_pages import find_linking_page
from pipeline.explain.page_diagnosis import PageFacts, diagnose_page
from pipeline.site_admin.sites import StoreSites
from search_ui.admin.interfaces.diagnosis import PageDiagnosis, PageRemedy


class StorePageDiagnosis:
    """Implements `DiagnosisBackend` of `search_ui` on the store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._sites = StoreSites(engine)

    def document_id(self, url: str) -> str:
        """Return the id that the document of a page has in the index; "" for no URL."""
        canonical_form = canonicalize_url(url)
        return "" if isinstance(canonical_form, Reason) else document_id(canonical_form)

    def diagnose_page(self, url: str) -> PageDiagnosis | None:
        """Return why a page is or is not among the results; None if `url` is not a URL.

        Raises SettingsError if the crawl settings are invalid.
        """
        canonical_form = canonicalize_url(url)
        return None if isinstance(canonical_form, Reason) else diagnose_page(self._load_facts(canonical_form))

    def _load_facts(self, url: str) -> PageFacts:
        engine, host, settings = self._engine, host_of(url), self._engine.settings.current().crawl
        plan = build_crawl_plan(settings)
        report = engine.store.status.url_report(url)
        rejection = rejection_reason(url, plan.url_rules, report.url_row.depth if report else 0)
        is_in_solr = bool(
            report and report.indexed and report.article and engine.index.get(report.article.doc_id) is not None
        )
        link = None
        if report is None and rejection is None:
            robots_agent = product_token(settings.user_agent)
            link = find_linking_page(engine.store.source_pages, url, host, robots_agent)
        totals = engine.store.status.find_site_totals(host)
        return PageFacts(
            url,
            host,
            rejection,
            any(scope.host == host for scope in plan.url_rules.scopes),
            report,
            is_in_solr,
            link,
            plan.url_rules.max_depth,
            totals.due_count if totals else 0,
            totals.last_visit_at if totals else None,
            engine.store.takedowns.find(url),
            settings.sites.for_host(host).paused,
        )

    def schedule_page(self, url: str, account: str) -> bool:
        """Make a known page due for the next crawl. Returns False if the URL is unknown or excluded."""
        if not self._engine.store.frontier.admin.make_due(url):
            return False
        self._record(account, PageRemedy.CRAWL_AGAIN, url)
        return True

    def _record(self, account: str, remedy: PageRemedy, url: str) -> None:
        """Record a remedy after its effect: if the program ends between the two, the record is missing."""
        self._engine.store.actions.record(account, f"page_{remedy}", url)

    def apply_remedy(self, url: str, remedy: PageRemedy, account: str) -> None:
        """Add the site or the URL to the crawl, resume the site, or make the page due for the next crawl.

        Raises PlumblineError if `url` is no URL, the crawl settings exclude it, or the settings file cannot be changed.
        """
        canonical_form = canonicalize_url(url)
        if isinstance(canonical_form, Reason):
            raise PlumblineError(f"{url[:200]!r} is not a URL")
        if remedy is PageRemedy.CRAWL_AGAIN:
            self.schedule_page(canonical_form, account)
        elif remedy is PageRemedy.RESUME_SITE:
            self._sites.resume(host_of(canonical_form), account)
        else:
            if remedy is PageRemedy.ADD_SITE:
                self._sites.add(url_origin(canonical_form) + "/", account)
            add_manual_urls(self._engine, [canonical_form], self._engine.settings.current().crawl)
            self._record(account, PageRemedy.ADD_URL, canonical_form)
