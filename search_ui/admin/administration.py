"""What the signed-in area works with: the store, and what `pipeline` hands over because it needs other stages.

A function is declared once, as a field here, and written once, in `pipeline`. Tests replace single fields.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from docstore.store import Store
from docstore.terms.review import TermReview
from domain.alert import EndedAlert
from domain.operation import Operation
from domain.page_diagnosis import PageDiagnosis
from domain.run import LiveRun, RunCounts, RunDetail, RunFigures, RunStatus, RunSummary
from search_ui.admin.settings_form import SettingsReader
from search_ui.admin.site_form import SiteReader
from search_ui.interfaces import Overview, SiteDetail, SiteReport
from search_ui.query.solr_client import SolrBackend
from search_ui.review.lexicon_tools import LexiconTools
from search_ui.review.topic_tools import TopicTools


@dataclass(frozen=True)
class Administration:
    """The store, the operations by name, and functions that need other stages.

    Attributes:
        store: The store of the vertical.
        operations: What accounts can change.
        review: The review of terms.
        lexicon_tools: What the review needs of the lexicon stage.
        topics: The topics.
        overview: Returns the state of index, lexicon and recent runs.
        sites: Returns the sites with the most URLs.
        site: Returns one site; None if it is unknown.
        dashboard_url: Returns the URL of the Dask dashboard (http or https); "" if there is none.
        run_status: Returns the state of the runs.
        run_counts: Returns how far the vertical is.
        list_runs: Returns the newest runs before a run (None: of all), up to a number, newest first.
        run_detail: Returns one run; None if it is unknown.
        live_run: Returns the progress of the active run; None if no run is active.
        run_figures: Returns the figures of the recorded runs, oldest first.
        ended_alerts: Returns the alerts that have ended, newest first.
        has_alert_channels: Returns True if alerts are sent to anybody.
        diagnose_page: Returns why a page is or is not among the results; None if the text is not a URL.
        finish_settings_records: Records changes of the settings file that a killed program has not recorded.
        settings_reader: Functions that read the settings file.
        site_reader: Functions that read its sites.
    """

    store: Store
    operations: Mapping[str, Operation]
    review: TermReview
    lexicon_tools: LexiconTools
    topics: TopicTools
    overview: Callable[[], Overview]
    sites: Callable[[], Sequence[SiteReport]]
    site: Callable[[str], SiteDetail | None]
    dashboard_url: Callable[[], str]
    run_status: Callable[[], RunStatus]
    run_counts: Callable[[], RunCounts]
    list_runs: Callable[[int | None, int], Sequence[RunSummary]]
    run_detail: Callable[[int], RunDetail | None]
    live_run: Callable[[], LiveRun | None]
    run_figures: Callable[[], Sequence[RunFigures]]
    ended_alerts: Callable[[], Sequence[EndedAlert]]
    has_alert_channels: Callable[[], bool]
    diagnose_page: Callable[[str, SolrBackend], PageDiagnosis | None]
    finish_settings_records: Callable[[], None]
    settings_reader: SettingsReader
    site_reader: SiteReader
