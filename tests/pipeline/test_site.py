"""The bundled demo vertical: its articles, its files, and its server over real HTTP."""

import http.client
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from flask import Flask
from jinja2 import TemplateError
from lxml import html
from werkzeug.serving import make_server

from domain.article import Article
from domain.errors import PlumblineError, PortInUseError
from extractor.documents.reader import read_document
from pipeline.demo.articles import DemoArticle, generate_articles
from pipeline.demo.featured import load_articles, load_documents
from pipeline.demo.render import SITES, load_design
from pipeline.demo.run import review_page_status
from pipeline.demo.site import SITE_NAMES, DemoServer, change_article, write_sites
from tests.site_fixture import OPERATOR, PASSWORD, site_app
from tests.web_fixture import PATIENCE

CANGYUAN, LANWAN, YUANSHAN = SITE_NAMES


def articles_of(**wanted: object) -> list[DemoArticle]:
    return [a for a in generate_articles() if all(getattr(a, name) == value for name, value in wanted.items())]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sites, written once; tests that change them write their own."""
    path = tmp_path_factory.mktemp("demo")
    write_sites(path)
    return path


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[DemoServer]:
    with DemoServer(folder, 0) as running:
        yield running


class Reply:
    """One answer, read to its end."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self.status, self.body, self.headers = answer.status, answer.read(), answer.headers


def ask(port: int, host: str, path: str = "/", method: str = "GET", **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        connection.putrequest(method, path, skip_host=True)
        for name, value in {"Host": f"{host}:{port}", **named}.items():
            connection.putheader(name, value)
        connection.endheaders()
        return Reply(connection.getresponse())


def path_of(article: DemoArticle) -> str:
    return "/" + load_design(article.site).page_path(article)


# --- the check of the demo


def test_the_check_signs_in_to_the_review_page(monkeypatch: pytest.MonkeyPatch) -> None:
    app = site_app()
    with running_app(app) as url:
        assert review_page_status(url, OPERATOR, PASSWORD) == 200
        assert review_page_status(url, OPERATOR, "wrong") == 303
        monkeypatch.setattr("search_ui.review.candidate_views.render_page", broken_template)
        assert review_page_status(url, OPERATOR, PASSWORD) == 500


def broken_template(*_: object, **__: object) -> str:
    raise TemplateError("broken")


@contextmanager
def running_app(app: Flask) -> Iterator[str]:
    """Serve an application on loopback; yields its URL."""
    server = make_server("127.0.0.1", 0, app)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}/"
    finally:
        server.shutdown()
        thread.join()


# --- articles


def test_articles_are_the_same_in_every_process() -> None:
    code = (
        "from pipeline.demo.articles import generate_articles; print(*(a.text for a in generate_articles()), sep='\\n')"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONIOENCODING": "utf-8"}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    assert run.stdout.decode("utf-8").splitlines() == "\n".join(a.text for a in generate_articles()).splitlines()
    assert generate_articles(1) != generate_articles(2)


def test_featured_articles_are_the_newest_and_link_to_their_files(server: DemoServer) -> None:
    featured = load_articles()[300:]
    assert [a.number for a in featured] == list(range(301, 301 + len(featured)))
    assert all(a.date > generate_articles()[-1].date for a in featured)
    linked = {(a.site, a.attachment) for a in featured if a.attachment}
    assert linked == {(document.site, document.path) for document in load_documents()}
    for document in load_documents():
        reply = ask(server.port, SITES[document.site][0], f"/{document.path}")
        assert (reply.status, reply.headers["Content-Type"]) == (200, "application/pdf")
        article = read_document(reply.body, document.path, "application/pdf")
        assert isinstance(article, Article)
        assert (article.title, article.language.partition("-")[0]) == (document.title, document.language)
        text = article.body.replace("\n", "").replace(" ", "")
        assert all(part.replace(" ", "") in text for page in document.pages for part in page.paragraphs)


# --- files


def test_the_third_site_is_gbk_said_by_its_meta_alone(folder: Path, server: DemoServer) -> None:
    for file in (folder / YUANSHAN).rglob("*.htm*"):
        assert "远山能源日报" in file.read_bytes().decode("gbk")
    reply = ask(server.port, YUANSHAN)
    assert reply.headers["Content-Type"] == "text/html"
    assert b'content="text/html; charset=gbk"' in reply.body
    with pytest.raises(UnicodeDecodeError):
        reply.body.decode("utf-8")


def test_writing_twice_changes_nothing(tmp_path: Path) -> None:
    first = write_sites(tmp_path)
    assert first.article_count == len(load_articles()) + len(load_documents())
    edited = tmp_path / LANWAN / "index.html"
    edited.write_text("mine", "utf-8")
    assert write_sites(tmp_path).written_count == 0
    assert edited.read_text("utf-8") == "mine"


def test_a_half_written_folder_is_completed(tmp_path: Path) -> None:
    write_sites(tmp_path)
    (tmp_path / "demo.json").unlink()
    (tmp_path / LANWAN / "index.html").unlink()
    assert write_sites(tmp_path).written_count == 1
    assert (tmp_path / "demo.json").is_file()
    assert (tmp_path / LANWAN / "index.html").is_file()


# --- server


def links(reply: Reply, base: str, encoding: str) -> set[str]:
    page = html.fromstring(reply.body.decode(encoding))
    return {urljoin(base, href) for href in page.xpath("//a/@href") if not href.startswith("javascript:")}


@pytest.mark.parametrize("key", SITES)
def test_every_article_is_at_most_four_links_from_home(key: str, server: DemoServer) -> None:
    design = load_design(key)
    base = f"http://{design.host}:{server.port}/"
    depth, level, refused = {base: 0}, [base], set()
    while level:
        found = set()
        for url in level:
            reply = ask(server.port, design.host, urlsplit(url).path)
            if reply.status == 200:
                found |= links(reply, url, design.encoding)
            else:
                refused.add((urlsplit(url).path, reply.status))
        level = [url for url in sorted(found) if url.startswith(base) and url not in depth]
        depth |= dict.fromkeys(level, depth[max(depth, key=lambda u: depth[u])] + 1)
    mine = [urljoin(base, path_of(a)) for a in articles_of(site=key)]
    assert max(depth[url] for url in mine) <= 4
    assert sorted(status for _, status in refused) in ([301, 404], [302, 404])
    assert all(url.startswith(base) for url in depth)


def test_each_host_has_its_own_site_and_others_are_told_so(server: DemoServer) -> None:
    for key, (host, name) in SITES.items():
        assert name in ask(server.port, host).body.decode(load_design(key).encoding)
    assert ask(server.port, CANGYUAN.upper() + ".").status == 200
    stranger = ask(server.port, "example.localhost")
    assert stranger.status == 404
    assert all(host in stranger.body.decode() for host in SITE_NAMES)


@pytest.mark.parametrize(
    "path",
    [
        "/../demo.json",
        "/%2e%2e/demo.json",
        f"/../{LANWAN}/index.html",
        "/images/..%2f..%2fdemo.json",
        "//../demo.json",
        "/\x00".replace("\x00", "%00"),
        "/" + "a" * 5000,
        "/mobile/index.shtml",
    ],
)
def test_nothing_but_the_hosts_own_files_is_served(server: DemoServer, path: str) -> None:
    assert ask(server.port, CANGYUAN, path).status == 404


def test_a_link_that_leads_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    write_sites(tmp_path / "sites")
    (tmp_path / "secret.html").write_text("secret", "utf-8")
    (tmp_path / "sites" / CANGYUAN / "out.html").symlink_to(tmp_path / "secret.html")
    with DemoServer(tmp_path / "sites", 0) as server:
        assert ask(server.port, CANGYUAN, "/out.html").status == 404


def test_an_unchanged_page_is_answered_with_304(server: DemoServer) -> None:
    full = ask(server.port, LANWAN)
    etag, modified = full.headers["ETag"], full.headers["Last-Modified"]
    cases = {
        304: [
            {"If_None_Match": etag},
            {"If_None_Match": f'"other", W/{etag}'},
            {"If_Modified_Since": modified},
            {"If_None_Match": etag, "If_Modified_Since": "Mon, 01 Jan 2001 00:00:00 GMT"},
        ],
        200: [
            {"If_None_Match": '"other"'},
            {"If_None_Match": '"other"', "If_Modified_Since": modified},
            {"If_Modified_Since": "Mon, 01 Jan 2001 00:00:00 GMT"},
            {"If_Modified_Since": "yesterday"},
        ],
    }
    for status, questions in cases.items():
        for headers in questions:
            reply = ask(server.port, LANWAN, **headers)
            assert (reply.status, reply.body) == (status, full.body if status == 200 else b""), headers


def test_requests_are_counted_by_host_and_status(folder: Path) -> None:
    with DemoServer(folder, 0) as server:
        ask(server.port, LANWAN)
        ask(server.port, LANWAN)
        ask(server.port, YUANSHAN, "/nothing")
        assert server.response_counts == {(LANWAN, 200): 2, (YUANSHAN, 404): 1}


def test_a_taken_port_is_named_in_one_line(folder: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortInUseError, match=rf"^port {port} [^\n]*choose another port[^\n]*$"):
            DemoServer(folder, port)


def test_a_folder_without_sites_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlumblineError, match="no demo sites"):
        DemoServer(tmp_path, 0)


# --- freshness


def test_a_changed_article_shows_at_once(tmp_path: Path) -> None:
    write_sites(tmp_path)
    markers = set()
    with DemoServer(tmp_path, 0) as server:
        for number in range(12):
            article = [a for a in generate_articles() if not a.has_picture][number]
            host, path = SITES[article.site][0], path_of(article)
            before = ask(server.port, host, path)
            url, marker = change_article(tmp_path, number, server.port)
            assert url == f"http://{host}:{server.port}{path}"
            for validator in ({"If_None_Match": "ETag"}, {"If_Modified_Since": "Last-Modified"}):
                asked = {name: before.headers[header] for name, header in validator.items()}
                after = ask(server.port, host, path, **asked)
                assert after.status == 200
            assert after.headers["ETag"] != before.headers["ETag"]
            assert marker in after.body.decode(load_design(article.site).encoding)
            assert marker.encode() not in before.body
            markers.add(marker)
    assert len(markers) == 12
    assert write_sites(tmp_path).written_count == 0


def test_changing_the_same_article_twice_gives_two_words(tmp_path: Path) -> None:
    write_sites(tmp_path)
    (url, first), (again, second) = change_article(tmp_path, 5, 80), change_article(tmp_path, 5, 80)
    assert (url == again, first == second) == (True, False)
    article = [a for a in generate_articles() if not a.has_picture][5]
    page = (tmp_path / SITES[article.site][0] / path_of(article)[1:]).read_bytes()
    assert first.encode() in page
    assert second.encode() in page


def test_an_article_edited_beyond_recognition_is_left_alone(tmp_path: Path) -> None:
    write_sites(tmp_path)
    article = next(a for a in generate_articles() if not a.has_picture)
    file = tmp_path / SITES[article.site][0] / path_of(article)[1:]
    file.write_text("rewritten", "utf-8")
    with pytest.raises(PlumblineError, match="start the demo again"):
        change_article(tmp_path, 0, 80)
    assert file.read_text("utf-8") == "rewritten"
