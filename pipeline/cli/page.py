"""The commands `plumb extract` and `plumb explain`.

`plumb extract` runs the stage; with `--file` or `--url` it prints the article of one page.
`plumb explain` prints the history of a URL, or the decisions of the extractor on a page.
"""

import tempfile
import webbrowser
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from domain.article import Article, Block, BlockKind
from domain.errors import PlumblineError, SolrError
from extractor.rendering import to_html, to_json, to_markdown
from pipeline import stages
from pipeline.cli.config_argument import VerticalCommand
from pipeline.cli.console import json_option, print_json, print_line, print_lines, stdout_console
from pipeline.cli.session import load_call_settings, load_call_settings_or_defaults, open_engine, print_reports

if TYPE_CHECKING:
    from extractor.settings import ExtractSettings
    from pipeline.engine import Engine
    from pipeline.explain.extraction_report import ExtractionReport
    from pipeline.explain.url_explanation import TopicRows, UrlExplanation
    from pipeline.page_source import LoadedPage

FILE_PATH = click.Path(path_type=Path, allow_dash=True)


# -- extract


@click.command("extract", cls=VerticalCommand)
@click.pass_context
@click.option("--method", "extract__method", help="Body extraction method (extract.method).")
@click.option("--again", "re_extract", is_flag=True, help="Extract all saved pages again.")
@click.option("--file", type=FILE_PATH, help="Print the article of a page on disk; - for standard input.")
@click.option("--base-url", help="URL of the page in --file, to resolve relative links.")
@click.option("--url", help="Fetch a page, observing robots.txt and delays, and print its article.")
@click.option(
    "--format", "output_format", type=click.Choice(["text", "markdown", "html", "json"]), help="Output format [text]."
)
def extract_command(
    context: click.Context,
    /,
    re_extract: bool,
    file: Path | None,
    base_url: str | None,
    url: str | None,
    output_format: str | None,
    **flags: Any,
) -> None:
    """Extract articles from fetched pages; with --file or --url, print the article of one page."""
    if file is not None and url is not None:
        raise click.UsageError("use either --file or --url, not both")
    if re_extract and (file is not None or url is not None):
        raise click.UsageError("--again cannot be combined with --file or --url")
    if base_url is not None and file is None:
        raise click.UsageError("--base-url needs --file")
    if output_format is not None and file is None and url is None:
        raise click.UsageError("--format needs --file or --url")
    if file is None and url is None:
        run_extract_stage(context, re_extract, **flags)
        return
    settings = load_call_settings_or_defaults(context, **flags)
    from pipeline.page_source import canonical_url, fetch_page, load_page_file

    if file is not None:
        page = load_page_file(file, canonical_url(base_url) if base_url else "")
    else:
        page = fetch_page(url or "", settings.crawl)
    click.echo(ARTICLE_FORMATTERS[output_format or "text"](extract_article(page, settings.extract)).rstrip("\n"))


def run_extract_stage(context: click.Context, re_extract: bool, **flags: Any) -> None:
    """Run the extract stage on pending pages, or on all saved pages if `re_extract`."""
    with open_engine(load_call_settings(context, **flags)) as engine:
        if re_extract:
            engine.store.articles.reextract_all()
        print_reports([stages.extract(engine)])


def extract_article(page: "LoadedPage", settings: "ExtractSettings") -> Article:
    """Extract the article of a page. Raises PlumblineError with the reason if it has none."""
    from pipeline.page_source import run_isolated, unreadable_url_error
    from pipeline.workers.page_reading import read_article

    article = run_isolated(page, read_article, page.body, page.url, page.content_type, page.fetched_at, settings)
    if isinstance(article, Article):
        return article
    raise unreadable_url_error(page.label, article)


def format_article_text(article: Article) -> str:
    """Format an article as text: title, byline, blank line, body."""
    header = [part for part in (article.title, format_byline(article)) if part]
    return "\n".join([*header, "", article.body] if header else [article.body])


def format_article_markdown(article: Article) -> str:
    """Format an article as Markdown."""
    return to_markdown(article_blocks(article))


def format_article_html(article: Article) -> str:
    """Format an article as an HTML page."""
    title = f"<title>{escape(article.title)}</title>"
    header = f'<!doctype html>\n<html lang="{escape(article.language)}">\n<meta charset="utf-8">\n{title}'
    return f"{header}\n<article>\n{to_html(article_blocks(article))}\n</article>"


def article_blocks(article: Article) -> list[Block]:
    """Return the blocks of an article, preceded by its title and byline."""
    header = (Block(BlockKind.HEADING, article.title, 1), Block(BlockKind.PARAGRAPH, format_byline(article)))
    return [*(block for block in header if block.text), *article.blocks]


def format_byline(article: Article) -> str:
    """Format date, author and source as one line; "" if all are unknown."""
    parts = (article.published_at or article.published, article.author, article.source)
    return " · ".join(part for part in parts if part)


ARTICLE_FORMATTERS: Mapping[str, Callable[[Article], str]] = {
    "text": format_article_text,
    "markdown": format_article_markdown,
    "html": format_article_html,
    "json": to_json,
}


# -- explain


@click.command(cls=VerticalCommand)
@click.argument("url", required=False)
@json_option
@click.option("--blocks", is_flag=True, help="Show for each line of the page why the extractor kept or dropped it.")
@click.option(
    "--page", "html_path", type=click.Path(path_type=Path), help="Write the explanation as an HTML page to this file."
)
@click.option("--open", "open_browser", is_flag=True, help="Open the explanation in a browser.")
@click.option(
    "--file",
    type=FILE_PATH,
    help="Explain a page on disk instead of the saved one; URL resolves its links. - reads standard input.",
)
@click.pass_context
def explain(
    context: click.Context,
    url: str | None,
    as_json: bool,
    blocks: bool,
    html_path: Path | None,
    open_browser: bool,
    file: Path | None,
) -> None:
    """Explain how and when a URL was found, fetched, extracted and indexed."""
    if url is None and file is None:
        raise click.UsageError("give a URL or --file")
    if as_json and (html_path or open_browser) and not blocks:
        raise click.UsageError("--json with --page or --open needs --blocks")
    if file is None and not (blocks or html_path or open_browser):
        with open_engine(load_call_settings(context)) as engine:
            explanation = explain_url(engine, url or "")
        if as_json:
            print_json(explanation.as_json())
        else:
            from pipeline.explain.url_report_text import iter_sentences

            print_lines(iter_sentences(explanation))
        return
    report = build_extraction_report(context, url, file)
    if html_path or open_browser:
        from pipeline.explain.extraction_html import render_html

        path = html_path or Path(tempfile.mkdtemp(prefix="plumb-")) / "explain.html"
        try:
            path.write_text(render_html(report), encoding="utf-8", errors="replace")
        except OSError as error:
            raise PlumblineError(f"cannot write {path}: {error.strerror}") from error
        print_line(f"wrote {path}")
        if open_browser and not webbrowser.open(path.resolve().as_uri()):
            raise PlumblineError(f"cannot open a browser: open {path} manually")
    if blocks or not (html_path or open_browser):
        print_extraction_report(report, as_json)


def build_extraction_report(context: click.Context, url: str | None, file: Path | None) -> "ExtractionReport":
    """Explain the extraction of a page on disk, or of the saved page of `url`. Raises PlumblineError."""
    settings = load_call_settings(context) if file is None else load_call_settings_or_defaults(context)
    from pipeline.explain.extraction_report import explain_extraction
    from pipeline.page_source import canonical_url, load_page_file, load_stored_page, run_isolated

    if file is not None:
        page = load_page_file(file, canonical_url(url) if url else "")
        return run_isolated(page, explain_extraction, page, settings.extract)
    with open_engine(settings) as engine:
        page = load_stored_page(engine, url or "")
    return run_isolated(page, explain_extraction, page, settings.extract)


def print_extraction_report(report: "ExtractionReport", as_json: bool) -> None:
    """Print an extraction report as tables or JSON."""
    from pipeline.explain.extraction_report import candidate_table, line_table, report_json

    if as_json:
        print_json(report_json(report))
        return
    print_line(report.summary)
    stdout_console.print(candidate_table(report))
    stdout_console.print(line_table(report))


def explain_url(engine: "Engine", url: str) -> "UrlExplanation":
    """Collect the history of a URL from the store, and its Solr document if it is indexed.

    Raises PlumblineError if the URL is invalid or unknown.
    """
    from pipeline.explain.url_explanation import UrlExplanation, copy_verdicts
    from pipeline.page_source import canonical_url

    canonical_form = canonical_url(url)
    report, topic = engine.store.status.url_report(canonical_form), explain_topic_rows(engine, canonical_form)
    if report is None and not topic:
        raise PlumblineError(f"{canonical_form} is unknown: no crawled page links to it, or it is out of scope")
    if report is None:
        return UrlExplanation(None, topic)
    solr_document, solr_error = None, ""
    try:
        solr_document = engine.index.get(report.article.doc_id) if report.indexed and report.article else None
    except SolrError as error:
        solr_error = str(error)
    return UrlExplanation(report, topic, solr_document, copy_verdicts(engine.store.articles, report), solr_error)


def explain_topic_rows(engine: "Engine", url: str) -> "TopicRows":
    """Return the topic scores and decisions for a URL; empty if there was no focused crawl."""
    if not engine.settings.crawl.topic and not engine.store.focused_decisions.count():
        return {}
    from pipeline.topic.explain import explain_topic  # imported late because it loads scikit-learn

    return explain_topic(engine, url)
