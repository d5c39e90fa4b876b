"""What Zotero reads from the pages and exports, through a running translation server of Zotero.

PLUMB_TEST_ZOTERO is its URL, for example http://127.0.0.1:1969. It has to run on this machine.
"""

import os
import threading
from collections.abc import Iterator
from queue import Queue
from typing import Any

import pytest
import requests
from werkzeug.serving import BaseWSGIServer, make_server

from solr_client import solr_fields
from tests.site_fixture import FakeSearch, document, site_app

ZOTERO = os.environ.get("PLUMB_TEST_ZOTERO", "")
pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(not ZOTERO, reason="PLUMB_TEST_ZOTERO is not the URL of a translation server"),
]
DOCUMENTS = [
    document(1, "页岩气：产量 & 价格", "正文") | {solr_fields.AUTHOR: "张三, 李四", solr_fields.SOURCE: "中国石油报"},
    document(2, "页岩气 gas", "text", "2016-05") | {solr_fields.AUTHOR: "John A. Smith, Ludwig van Beethoven"},
    document(3, "页岩气", "正文", ""),
    document(4, "页岩气报告", "正文") | {solr_fields.AUTHOR: "World Bank Group", solr_fields.FORMAT: "pdf"},
]
AUTHORS = {
    "doc1": ["张三", "李四"],
    "doc2": ["John A. Smith", "Ludwig van Beethoven"],
    "doc3": [],
    "doc4": ["World Bank Group"],
}
TYPES = {"doc1": "newspaperArticle", "doc2": "webpage", "doc3": "webpage", "doc4": "report"}


@pytest.fixture(scope="module")
def site_url() -> Iterator[str]:
    servers: Queue[BaseWSGIServer] = Queue()

    def serve() -> None:
        server = make_server("127.0.0.1", 0, site_app(FakeSearch(DOCUMENTS)))
        servers.put(server)
        server.serve_forever()

    thread = threading.Thread(target=serve, daemon=True)  # the SQLite store of the site belongs to this thread
    thread.start()
    server = servers.get(timeout=60)
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()


def send_to_zotero(path: str, text: str) -> Any:
    response = requests.post(
        ZOTERO + path, data=text.encode(), headers={"Content-Type": "text/plain; charset=utf-8"}, timeout=60
    )
    return response.json()


def check_item(item: dict[str, Any], doc: dict[str, Any]) -> None:
    names = [each.get("name") or f"{each['firstName']} {each['lastName']}" for each in item["creators"]]
    assert names == AUTHORS[doc[solr_fields.ID]]
    assert (item["title"], item["url"]) == (doc[solr_fields.TITLE], doc[solr_fields.URL])
    assert item["language"] == "zh" and item["accessDate"]


@pytest.mark.parametrize("doc", DOCUMENTS, ids=AUTHORS)
def test_zotero_recognizes_article_pages(doc: dict[str, Any], site_url: str) -> None:
    [item] = send_to_zotero("/web", f"{site_url}/article/{doc[solr_fields.ID]}")
    check_item(item, doc)
    assert item["itemType"] == TYPES[doc[solr_fields.ID]]
    assert item.get("date", "") == doc[solr_fields.PUBLISHED_TEXT]


def test_zotero_recognizes_result_pages(site_url: str) -> None:
    choices = send_to_zotero("/web", f"{site_url}/search?q=页岩气")
    assert list(choices["items"].values()) == [doc[solr_fields.TITLE] for doc in DOCUMENTS]


@pytest.mark.parametrize("name", ["bibtex", "ris", "csl"])
def test_zotero_imports_exports(name: str, site_url: str) -> None:
    exported = requests.get(f"{site_url}/api/v1/search?q=页岩气&format={name}", timeout=60).content.decode()
    items = send_to_zotero("/import", exported)
    assert len(items) == len(DOCUMENTS)
    for item, doc in zip(items, DOCUMENTS, strict=True):
        check_item(item, doc)
