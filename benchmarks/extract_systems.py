"""The extractors that `benchmarks.extract` compares, each as a function (html, url, language) -> Answer.

A system is imported when it is created: peers are installed in .venv-peers, ours is not. Each is set up as its
documentation recommends for articles. Peers that only accept text get text decoded by our charset detection. Peers that
accept a language get the language of the page; our extractor does not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from domain.article import ExtractionResult

NO_URL = "http://example.com/"  # for peers that require a URL
BLOCK_TAGS = ("p", "div", "li", "tr", "td", "br", "blockquote", "pre", "h1", "h2", "h3", "h4", "h5", "h6")


@dataclass(frozen=True)
class Answer:
    """Result of an extractor: `body` and `title` as text, `date` as text that contains the day; "" for nothing.

    `author` is the author as text. `kind` is the page type, `list` for a page rejected as a list. `marked` is True if
    the body is marked as uncertain.
    """

    body: str = ""
    title: str = ""
    date: str = ""
    author: str = ""
    kind: str = ""
    marked: bool = False


Extract = Callable[[Any, str, str], Answer]


@dataclass(frozen=True)
class System:
    """One system. `make` imports and sets it up; `gives` names the fields of Answer that it can fill.

    `takes` is the input of its function: `bytes` or `text`. `is_ours` selects the environment.
    """

    name: str
    make: Callable[[], Extract]
    gives: tuple[str, ...] = ("body", "title", "date")
    takes: str = "text"
    is_ours: bool = False


def ours(**settings: Any) -> Callable[[], Extract]:
    """Return our extractor with these settings; without any, as it is used."""

    def make() -> Extract:
        from extractor.article_extractor import ArticleExtractor
        from extractor.settings import ExtractSettings

        extractor = ArticleExtractor(ExtractSettings(**settings))
        return lambda html, url, language: answer_of(extractor.extract_with_site(html, url))

    return make


def answer_of(reading: "ExtractionResult") -> Answer:
    """Convert an Article to an answer; an Outcome gives only the date, and whether the page is a list."""
    from domain.outcome import Outcome

    found = reading.result
    if isinstance(found, Outcome):
        return Answer(date=found.published_date, kind="list" if found.reason == "list_page" else "")
    marked = reading.warning is not None
    return Answer(found.body, found.title, found.published, found.author, str(found.page_type), marked)


def trafilatura() -> Extract:
    """https://trafilatura.readthedocs.io: without comments."""
    bare_extraction = import_module("trafilatura").bare_extraction

    def run(html: str, url: str, language: str) -> Answer:
        found = bare_extraction(html, url=url or None, include_comments=False, with_metadata=True)
        return Answer(found.text or "", found.title or "", found.date or "", found.author or "") if found else Answer()

    return run


def rs_trafilatura() -> Extract:
    """https://github.com/Murrough-Foley/rs-trafilatura: Rust; detects the page type and extracts by type."""
    extract = import_module("rs_trafilatura").extract

    def run(html: str, url: str, language: str) -> Answer:
        found = extract(html, url=url or None)
        kind = found.page_type or ""
        return Answer(found.main_content or "", found.title or "", found.date or "", found.author or "", kind)

    return run


def readability() -> Extract:
    """https://github.com/buriy/python-readability: returns HTML, which is converted line by line."""
    document = import_module("readability").Document
    lxml_html = import_module("lxml.html")

    def run(html: str, url: str, language: str) -> Answer:
        found = document(html)
        root = lxml_html.fromstring(found.summary(html_partial=True))
        for element in root.iter(*BLOCK_TAGS):
            element.tail = "\n" + (element.tail or "")
        return Answer(root.text_content(), found.short_title())

    return run


def newspaper() -> Extract:
    """https://newspaper4k.readthedocs.io: the page is given, not fetched, and pictures are not fetched.

    If it has to detect the language, it raises on pages in languages that need further packages.
    """
    article = import_module("newspaper").Article

    def run(html: str, url: str, language: str) -> Answer:
        known = "zh" if language == "zh" else "en"
        page = article(url or NO_URL, language=known, fetch_images=False, follow_meta_refresh=False)
        page.download(input_html=html)
        page.parse()
        return Answer(page.text or "", page.title or "", str(page.publish_date or ""))

    return run


def resiliparse() -> Extract:
    """https://resiliparse.chatnoir.eu: main content without bullets, numbers and alternative texts."""
    tree = import_module("resiliparse.parse.html").HTMLTree
    plain_text = import_module("resiliparse.extract.html2text").extract_plain_text

    def run(html: str, url: str, language: str) -> Answer:
        page = tree.parse(html)
        return Answer(plain_text(page, main_content=True, alt_texts=False, list_bullets=False), page.title or "")

    return run


def gne() -> Extract:
    """https://github.com/GeneralNewsExtractor/GeneralNewsExtractor, with its defaults."""
    extractor = import_module("gne").GeneralNewsExtractor()

    def run(html: str, url: str, language: str) -> Answer:
        found = extractor.extract(html)
        return Answer(found["content"], found["title"], found["publish_time"])

    return run


def goose() -> Extract:
    """https://github.com/goose3/goose3: stop words of the page's language, else the language that the page names."""
    goose3, words = import_module("goose3"), import_module("goose3.text")
    chinese = goose3.Goose({"stopwords_class": words.StopWordsChinese, "enable_image_fetching": False})
    other = goose3.Goose({"enable_image_fetching": False})

    def run(html: str, url: str, language: str) -> Answer:
        found = (chinese if language == "zh" else other).extract(url=url or None, raw_html=html)
        return Answer(found.cleaned_text or "", found.title or "", str(found.publish_date or ""))

    return run


def justext() -> Extract:
    """https://github.com/miso-belica/jusText: Chinese uses its language-independent mode, without stop words."""
    module = import_module("justext")
    english = {"stoplist": module.get_stoplist("English")}
    independent = {"stoplist": frozenset(), "stopwords_low": 0, "stopwords_high": 0}

    def run(html: str, url: str, language: str) -> Answer:
        paragraphs = module.justext(html, **(english if language == "en" else independent))
        return Answer("\n".join(part.text for part in paragraphs if not part.is_boilerplate))

    return run


def boilerpy3() -> Extract:
    """https://github.com/jmriebold/BoilerPy3: its extractor for articles."""
    extractor = import_module("boilerpy3.extractors").ArticleExtractor(raise_on_failure=False)

    def run(html: str, url: str, language: str) -> Answer:
        found = extractor.get_doc(html)
        return Answer(found.content or "", found.title or "")

    return run


def htmldate() -> Extract:
    """https://htmldate.readthedocs.io: only dates, configured for the day of publication."""
    find_date = import_module("htmldate").find_date
    return lambda html, url, language: Answer(date=find_date(html, url=url or None, original_date=True) or "")


OURS = "plumbline"
ABLATION = ("tag_path_ratio", "two_pass", "two_pass+tighten", OURS)
SYSTEMS = {
    system.name: system
    for system in (
        System(OURS, ours(), takes="bytes", is_ours=True),
        System("tag_path_ratio", ours(method="tag_path_ratio"), takes="bytes", is_ours=True),
        System("two_pass", ours(method="two_pass"), takes="bytes", is_ours=True),
        System("two_pass+tighten", ours(method="two_pass", tighten=True), takes="bytes", is_ours=True),
        System("trafilatura", trafilatura),
        System("rs-trafilatura", rs_trafilatura),
        System("readability-lxml", readability, ("body", "title")),
        System("newspaper4k", newspaper),
        System("resiliparse", resiliparse, ("body", "title")),
        System("gne", gne),
        System("goose3", goose),
        System("jusText", justext, ("body",)),
        System("boilerpy3", boilerpy3, ("body", "title")),
        System("htmldate", htmldate, ("date",)),
    )
}
