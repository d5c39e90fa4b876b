"""Generate `indexer/solr_classes.lst`: classes that Solr loads to start, create a collection, index and search.

    python -m benchmarks.training.solr_classes

Generate it again after a change of Solr's jars (`indexer/solr_jars.lock`).
"""

import os
import tempfile
from pathlib import Path

from benchmarks.search_data import Document
from benchmarks.search_systems import Ours
from domain.term import Lexicon
from indexer.class_data_sharing import CLASS_LIST_PATH, JAVA_OPTIONS_ENV
from indexer.embedded_solr import EmbeddedSolr
from indexer.settings import IndexSettings

TEXTS = (
    ("页岩气", "四川盆地的页岩气产量在2016年上升。水力压裂技术已经成熟。"),
    ("Shale gas", "Forty wells of shale gas were drilled in 2016."),
)


def class_names(loaded: str) -> list[str]:
    """Return the classes of a list by Java (-XX:DumpLoadedClassList), without classes generated at run time."""
    names = {line.partition(" ")[0] for line in loaded.splitlines() if " source: " not in line}
    return sorted(name for name in names if name and name[0] not in "#@" and "$$" not in name and "$Proxy" not in name)


def main() -> None:
    """Write the list."""
    with tempfile.TemporaryDirectory() as folder:
        loaded = Path(folder) / "loaded.lst"
        os.environ[JAVA_OPTIONS_ENV] = f"-Xshare:off -XX:DumpLoadedClassList={loaded}"
        with EmbeddedSolr(Path(folder) / "solr", IndexSettings(start_timeout=300), print) as node:
            system = Ours(node.url, "classes", Lexicon())
            system.load([Document(str(n), title, text) for n, (title, text) in enumerate(TEXTS)])
            for title, _ in TEXTS:
                assert system.search(title)
            system.drop()
        names = class_names(loaded.read_text("utf-8"))
    CLASS_LIST_PATH.write_text("".join(f"{name}\n" for name in names), "utf-8")
    print(f"{len(names)} classes written to {CLASS_LIST_PATH}")


if __name__ == "__main__":
    main()
