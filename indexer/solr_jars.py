"""Jars of the embedded Solr, as listed in `solr_jars.lock` and downloaded by maven_jars/jar_cache.py.

After a change of `ROOT_ARTIFACTS`, create the lock again (benchmarks/training/solr_jars.py).

    python -m indexer.solr_jars --fetch

downloads the jars and prepares Solr's classes now instead of at the first start of Solr.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

from domain.errors import SolrError
from indexer.class_data_sharing import cds_java_options
from maven_jars.jar_cache import Jar, JarError, JarSet, ProgressCallback, default_cache_folder, parse_lock
from maven_jars.jar_cache import ensure_jars as ensure_jar_set

SOLR_VERSION = "9.10.1"
JETTY_VERSION = "10.0.26"  # as shipped with Solr 9.10; the POM of solr-core alone would select Jetty 9.4
ROOT_ARTIFACTS = (
    f"org.apache.solr:solr-core:{SOLR_VERSION}",
    f"org.eclipse.jetty:jetty-server:{JETTY_VERSION}",
    f"org.eclipse.jetty:jetty-servlet:{JETTY_VERSION}",
    f"org.eclipse.jetty:jetty-webapp:{JETTY_VERSION}",
    f"org.eclipse.jetty:jetty-xml:{JETTY_VERSION}",
    f"org.eclipse.jetty.http2:http2-server:{JETTY_VERSION}",
    # Unicode tokens and folding, and Polish stems: Solr's module analysis-extras without its other languages.
    "org.apache.lucene:lucene-analysis-icu:9.12.3",
    "com.ibm.icu:icu4j:74.2",
    "org.apache.lucene:lucene-analysis-stempel:9.12.3",
    "org.apache.logging.log4j:log4j-api:2.25.3",  # the POMs combine it with a newer log4j-core
)
LOCK_PATH = Path(__file__).with_name("solr_jars.lock")


def default_jar_folder() -> Path:
    """Return the default folder of the jars (setting index.solr_jars)."""
    return default_cache_folder(f"solr-{SOLR_VERSION}", LOCK_PATH)


def ensure_jars(folder: Path, report_progress: ProgressCallback, jars: Iterable[Jar] | None = None) -> Path:
    """Make sure that `folder` contains exactly the locked jars (those of the lock file, or `jars`); return the folder.

    Works like `maven_jars.jar_cache.ensure_jars`, but raises SolrError.
    """
    jar_list = tuple(parse_lock(LOCK_PATH.read_text("utf-8")) if jars is None else jars)
    hint = "check the network, or set index.solr_url to your own Solr"
    try:
        return ensure_jar_set(
            JarSet("Solr's jar", f"Solr {SOLR_VERSION}", 85, jar_list, "index.solr_jars", hint), folder, report_progress
        )
    except JarError as error:
        raise SolrError(str(error)) from error


if __name__ == "__main__":
    if sys.argv[1:] != ["--fetch"]:
        sys.exit("usage: python -m indexer.solr_jars --fetch")
    cds_java_options(ensure_jars(default_jar_folder(), print), print)
