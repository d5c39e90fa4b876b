"""The demo after one run, with its search site, for benchmarks of a running site."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from pipeline.demo.run import DemoOptions, demo_settings, run_demo_stages
from pipeline.demo.site import DemoServer, write_sites
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.serve import SearchSite


@contextmanager
def open_demo_site(without_embedding: bool = False) -> Iterator[tuple[Engine, SearchSite]]:
    """Yield the engine of the demo and its searchable site, in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="plumbline-demo-", ignore_cleanup_errors=True) as name:  # Solr ends later
        folder = Path(name)
        write_sites(folder / "sites")
        (folder / "demo").mkdir()
        with DemoServer(folder / "sites", 0) as server:
            settings = demo_settings(DemoOptions(folder / "demo", port=0, site_port=server.port))
            with Engine(settings, NullProgress()) as engine:
                run_demo_stages(engine, Console(stderr=True), without_embedding)
                with SearchSite(engine) as site:
                    site.wait_until_searchable()
                    yield engine, site
