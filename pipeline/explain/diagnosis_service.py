"""Why single pages are or are not among the results, for the search site; and what an operator can do about it."""

from crawler.crawl_plan import build_crawl_plan
from crawler.robots.robots_txt import product_token
from crawler.urls.canonical import canonicalize_url, host_of, rejection_reason
from domain.account import Role
from domain.article import document_id
from domain.errors import SolrError
from domain.operation import Call, Change, Field, Operation, Recording
from domain.outcome import Reason
from domain.page_diagnosis import PageDiagnosis, PageRemedy
from pipeline.crawl_stage.manual_urls import add_manual_urls
from pipeline.engine import Engine
from pipeline.explain.linking_pages import find_linking_page
from pipeline.explain.page_diagnosis import PageFacts, diagnose_page
from pipeline.site_admin.takedowns import parse_url
from search_ui.query.solr_client import SolrBackend, match_count
from search_ui.query.solr_query import SolrQuery, select_params
from solr_client import solr_fields


class StorePageDiagnosis:
    """Diagnoses pages of a vertical, and has the operations that remedy them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def document_id(self, url: str) -> str:
        """Return the id that the document of a page has in the index; "" for no URL."""
        canonical_form = canonicalize_url(url)
        return "" if isinstance(canonical_form, Reason) else document_id(canonical_form)

    def diagnose_page(self, url: str, solr: SolrBackend) -> PageDiagnosis | None:
        """Return why a page is or is not among the results; None if `url` is not a URL, with or without its scheme.

        Raises SettingsError if the crawl settings are invalid.
        """
        forms = map(canonicalize_url, [url] if "://" in url else [f"https://{url}", f"http://{url}"])
        urls = [form for form in forms if not isinstance(form, Reason)]
        known_urls = filter(self._engine.store.status.url_report, urls)
        found_url = next(known_urls, next(iter(urls), ""))
        return diagnose_page(self._load_facts(found_url, solr)) if found_url else None

    def _load_facts(self, url: str, solr: SolrBackend) -> PageFacts:
        engine, host, settings = self._engine, host_of(url), self._engine.settings.current().crawl
        plan = build_crawl_plan(settings)
        report = engine.store.status.url_report(url)
        rejection = rejection_reason(url, plan.url_rules, report.url_row.depth if report else 0)
        by_id = select_params(SolrQuery.term(solr_fields.ID, "doc", document_id(url)))
        is_in_solr: bool | None = False
        if report and report.indexed and report.article:
            try:
                is_in_solr = match_count(solr.select(by_id)) > 0
            except SolrError:
                is_in_solr = None
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

    @property
    def operations(self) -> tuple[Operation, Operation]:
        """`page_crawl_again`, of a known page, and `page_add_url`."""
        fields, role = (Field("url", is_required=True),), Role.OPERATOR
        return (
            Operation(f"page_{PageRemedy.CRAWL_AGAIN}", role, self._crawl_again, fields),
            Operation(f"page_{PageRemedy.ADD_URL}", role, self._add_url, fields, recording=Recording.AFTERWARDS),
        )

    def _crawl_again(self, call: Call) -> Change | None:
        """Make a known page due for the next crawl; None if the URL is unknown or excluded."""
        url = parse_url(call)
        return Change(url) if self._engine.store.frontier.admin.make_due(url) else None

    def _add_url(self, call: Call) -> Change:
        """Add a URL to the crawl. Raises PlumblineError if the crawl settings exclude it."""
        url = parse_url(call)
        add_manual_urls(self._engine, [url], self._engine.settings.current().crawl)
        return Change(url)
