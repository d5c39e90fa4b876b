"""Sites from files of other programs: what becomes a setting, and that nothing is dropped silently."""

from pathlib import Path

import pytest

from domain.errors import SettingsError
from pipeline.settings import load_settings
from pipeline.site_admin.site_import import find_site_changes
from pipeline.site_admin.site_lists import PARSERS, SiteList, detect_format
from tests.plumb_call import call_plumb

OPML = """<?xml version="1.0"?><opml version="2.0"><body>
<outline text="News"><outline text="A" type="rss" xmlUrl="http://a.test/feed.xml" htmlUrl="http://a.test/blog/"/></outline>
<outline text="B" xmlUrl="http://www.b.test/rss"/>
<outline text="C" xmlUrl="http://feeds.test/c" htmlUrl="http://c.test/"/>
<outline text="D"/></body></opml>"""


def test_every_format_lists_what_it_leaves_out() -> None:
    opml = PARSERS["opml"](OPML.encode())
    assert opml.seeds == ("http://a.test/blog/", "http://www.b.test/", "http://c.test/")
    assert [note.partition(":")[0] for note in opml.notes] == ["B", "C", "D"]
    plain = PARSERS["list"]("\ufeff# mine\nhttp://a.test/x\nb.test\n\nftp://c.test/\nhttp://d.test/x.zip\n".encode())
    assert plain.seeds == ("http://a.test/x", "https://b.test/", "http://d.test/x.zip")
    assert [note.partition(":")[0] for note in plain.notes] == ["line 5"]
    names = ("a.opml", "a.xml", "a.txt")
    formats = [detect_format(name, b" <opml>" if name == "a.xml" else b"") for name in names]
    assert formats == ["opml", "opml", "list"]


B = '<outline text="B" xmlUrl="http://b.test/f"/>'


@pytest.mark.parametrize(
    "content",
    [
        '<opml><outline text="A&B" xmlUrl="http://a.test/f?x=1&lt=2&copy"/>' + B + "</opml>",
        '<opml><outline text="1 < 2" xmlUrl="http://a.test/f"/>' + B,
        '<opml><outline text="say "hi"" xmlUrl="http://a.test/f"/>' + B,
        "<opml><outline text=A xmlUrl=http://a.test/f />" + B,
        '<opml><outline isOpen text="A"xmlUrl="http://a.test/f"/>' + B,
        '<opml><outline text="A" text="B" xmlUrl="http://a.test/f"></outlin>' + B,
        '<OPML><OUTLINE TEXT="A" XMLURL="http://a.test/f">' + B + "</OUTLINE>",
        '<x:opml><x:outline type="rss" xmlUrl="feed://a.test/f"/>' + B,
        '<opml><outline xmlUrl="feed:http://a.test/f"/>' + B,
        '<opml><outline text="&nbsp;\x01" xmlUrl=" http://a.test/f\n"/>' + B + "</opml><p>",
        '<!DOCTYPE o [<!ENTITY a "a.test">]><opml><outline text="&a;" xmlUrl="http://a.test/f"/>' + B,
        '\ufeff junk <opml><outline type="rss" text="tech"><outline xmlUrl="http://a.test/f"/>' + B,
        "<opml>" + '<outline text="x">' * 1000 + '<outline xmlUrl="http://a.test/f"/>' + B,
    ],
)
def test_small_faults_of_an_opml_file_are_repaired(content: str) -> None:
    sites = PARSERS["opml"](content.encode())
    assert sites.seeds == ("http://a.test/", "http://b.test/")
    assert all("the file names no page for the feed" in note for note in sites.notes), sites.notes
    declared = f'<?xml version="1.0" encoding="gb2312"?>{content}'.replace("A", "天").replace("\ufeff", "")
    assert PARSERS["opml"](declared.encode("gb2312", "replace")).seeds == sites.seeds


def test_entries_of_an_opml_file_that_cannot_be_read_are_listed() -> None:
    cut = '<opml><outline text="A" xmlUrl="http://a.test/f" ' + B + '<outline text="C xmlUrl="http://c.test/f"/>'
    sites = PARSERS["opml"](cut.encode())
    assert sites.seeds == ("http://a.test/",)
    assert [note for note in sites.notes if "names no page" not in note] == [
        "entries that cannot be read: 1",
        "C xmlUrl=: no URL of a page",
    ]
    without_scheme = PARSERS["opml"](b'<opml><outline htmlUrl="www.d.test/x"/><outline xmlUrl="http://["/>')
    assert without_scheme.seeds == ("https://www.d.test/x",) and len(without_scheme.notes) == 1


@pytest.mark.parametrize(
    ("file_format", "content", "message"),
    [
        ("opml", b"<rss/>", "no OPML"),
        ("opml", b"", "no OPML"),
        ("opml", b"\0\xff", "no OPML"),
        ("list", b"\xff", "not UTF-8"),
    ],
)
def test_a_hostile_or_wrong_file_is_refused(file_format: str, content: bytes, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        PARSERS[file_format](content)


def test_a_scope_is_written_only_if_it_is_needed() -> None:
    def tables(*tables: dict[str, object]) -> dict[str, object]:
        return {"sites": list(tables)}

    sites = SiteList(("http://b.test/",), ())
    own = tables({"urls": ["http://www.example.org/"]}, {"urls": ["http://a.test/"]})
    assert find_site_changes(own, sites.seeds) == tables({"urls": ["http://a.test/"]}, {"urls": ["http://b.test/"]})
    assert find_site_changes(tables({"urls": ["http://b.test/"], "scope": ["*.b.test"]}), sites.seeds) == {}
    narrow = tables({"urls": ["http://b.test/x"], "scope": ["b.test/x"]})
    [table] = find_site_changes(narrow, sites.seeds)["sites"]  # type: ignore[misc]
    assert table == {"urls": ["http://b.test/x", "http://b.test/"], "scope": ["b.test/x", "b.test"]}


def test_the_command_edits_the_file_and_a_preview_does_not(tmp_path: Path) -> None:
    config, file = tmp_path / "v.toml", tmp_path / "urls.txt"
    text = "[crawl]  # mine\nthreads = 3\n"
    config.write_text(text)
    file.write_text("http://a.test/blog\nb.test\nftp://c.test/\n")
    preview = call_plumb("-c", str(config), "sites", "import", str(file), "--preview")
    assert (
        config.read_text() == text
        and "would add 2 lines to crawl.seeds (urls in [[sites]]): http://a.test/blog" in preview.out
    )
    done = call_plumb("-c", str(config), "sites", "import", str(file), "--nevertheless")
    assert (
        "added 2 lines to crawl.seeds (urls in [[sites]]): http://a.test/blog, https://b.test/" in done.out
        and done.status == 0
    )
    assert done.out.count("not imported: ") == preview.out.count("not imported: ") == 1
    assert "# mine" in config.read_text()
    assert load_settings(config).crawl.sites.seeds == ("http://a.test/blog", "https://b.test/")
    again = call_plumb("-c", str(config), "sites", "import", str(file), "--nevertheless")
    assert "added 0 lines to crawl.seeds (urls in [[sites]])\n" in again.out
    wrong = call_plumb("-c", str(config), "sites", "import", str(file), "--format", "opml")
    assert wrong.status == 1 and f"cannot import {file}: the file is no OPML" in wrong.complaint
