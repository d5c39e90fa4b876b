"""The collections that search is measured on, read from files, and the scorer that judges a ranking.

<folder>/docs.jsonl.gz      {"id": "s01", "title": "...", "text": "..."} a line
<folder>/queries.*.tsv      "12q<TAB>租赁合同一般包括哪些内容？" a line
<folder>/qrels.*.txt        "12q 0 s01 1" a line
"""

import gzip
import importlib.util
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from zlib import crc32

from benchmarks.results import SHARED
from domain.article import Article, StoredArticle, document_id
from domain.errors import PlumblineError

SCORER = Path("tools") / "score_ir.py"
Judgments = Mapping[str, Mapping[str, float]]
"""Query id -> document id -> gain."""


@dataclass(frozen=True)
class Document:
    """One document of a collection."""

    id: str
    title: str
    text: str

    def stored(self, collection: str) -> StoredArticle:
        """Return the document as a stored article."""
        url = f"http://{collection}.test/{self.id}"
        return StoredArticle(0, document_id(url), f"{collection}.test", Article(url, self.title, self.text))


@dataclass(frozen=True)
class Collection:
    """Documents, queries (id and text) and judgments. Queries without a relevant document are left out."""

    name: str
    documents: Sequence[Document]
    queries: Sequence[tuple[str, str]]
    judgments: Judgments


def load_collections(data: Path, scorer: ModuleType, names: Sequence[str] = ()) -> list[Collection]:
    """Load the collections of `data`, or of `data`/ir; only those of `names`, if given."""
    root = data / "ir" if (data / "ir").is_dir() else data
    folders = sorted(path.parent for path in root.glob("*/docs.jsonl.gz"))
    return [_load(folder, scorer) for folder in folders if not names or folder.name in names]


def _load(folder: Path, scorer: ModuleType) -> Collection:
    judgments = {}
    for path in sorted(folder.glob("qrels.*.txt")):
        judgments.update(scorer.read_qrels(path))
    lines = [line for path in sorted(folder.glob("queries.*.tsv")) for line in path.read_text("utf-8").splitlines()]
    queries = [(name, text) for name, _, text in (line.partition("\t") for line in lines) if name in judgments]
    with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        documents = [Document(doc["id"], doc.get("title", ""), doc["text"]) for doc in map(json.loads, file)]
    return Collection(folder.name, documents, queries, judgments)


def sample(collection: Collection, queries: int, documents: int) -> Collection:
    """Return every n-th query, the documents judged for these queries, and every n-th other document."""
    chosen = [query for query in collection.queries if crc32(query[0].encode()) % queries == 0]
    judgments = {name: collection.judgments[name] for name, _ in chosen}
    judged = {document for found in judgments.values() for document in found}
    kept = [one for one in collection.documents if one.id in judged or crc32(one.id.encode()) % documents == 0]
    return Collection(collection.name, kept, chosen, judgments)


def load_scorer(data: Path) -> ModuleType:
    """Load the scorer next to `data`, or the one of ../shared. Raises PlumblineError if there is none."""
    for folder in (*data.resolve().parents, SHARED.parent):
        if (folder / SCORER).is_file():
            spec = importlib.util.spec_from_file_location("score_ir", folder / SCORER)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    raise PlumblineError(f"no {SCORER} above {data}, and none in {SHARED.parent}: the figures need it")
