"""An index of an earlier version, opened by this version: searches are answered while the new index is filled."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

import requests

from domain.article import document_id
from indexer import solr_index, sync
from indexer.document_mapping import to_solr_document
from locks.file_locks import stage_lock
from tests.crash_harness import Vertical, call_successfully, until
from tests.earlier_versions import extract_configsets, to_earlier_document
from tests.faults.tally import Tally
from tests.web_fixture import PATIENCE

NEW_FIELD = "page_type"  # every document of this version has it
QUERY = "油田"
SEARCHES_BEFORE = 5  # answered before this version begins its own index


def upgrade_faults(source: Vertical, folder: Path) -> Tally:
    """Index with the earlier schema, start this version's site, and search until its own index is in use.

    The figure `errors` counts responses without results since Solr has started.
    """
    tally = Tally("upgrade", figures={"errors": 0})
    vertical = source.copy_to(folder / "v")
    with tally.trying("earlier schema"), ExitStack() as stack:
        with earlier_version(folder):
            call_successfully(vertical, "index")
        index = stack.enter_context(vertical.solr())
        stack.callback(vertical.end)
        doc_id = document_id(next(iter(vertical.kept().articles)))
        assert NEW_FIELD not in (index.get(doc_id) or {})
        statuses: list[int] = []

        def search(url: str) -> int:
            response = requests.get(f"{url}api/v1/search", params={"q": QUERY}, timeout=PATIENCE)
            if response.status_code != requests.codes.unavailable or "starting" not in response.text:
                statuses.append(response.status_code if not response.ok or response.json()["hits"] else 0)
            return len(statuses)

        with stage_lock(vertical.data, "index"):  # as long as another process indexes, the new index is not begun
            running = vertical.start("serve")
            assert running.stdout is not None
            url = running.stdout.readline().split()[-1]
            until(lambda: search(url) >= SEARCHES_BEFORE, running)
        until(lambda: search(url) and NEW_FIELD in (index.get(doc_id) or {}), running)
        tally.figures["errors"] = sum(status != requests.codes.ok for status in statuses)
        assert statuses and not tally.figures["errors"], f"statuses {sorted(set(statuses))}"
    return tally


@contextmanager
def earlier_version(folder: Path) -> Iterator[None]:
    """Index in this process as the first version did: with its configset, and without the fields that it lacks."""
    configset = extract_configsets(folder / "configsets")[0]
    with (
        patch.object(solr_index, "CONFIGSET_DIR", configset),
        patch.object(
            sync, "to_solr_document", lambda *arguments: to_earlier_document(to_solr_document(*arguments), configset)
        ),
    ):
        yield
