"""The commands about one page: `plumb extract --file` or `--url` prints its article, `plumb explain` says why.

Without a page `plumb extract` is the stage.
"""

import json
import tempfile
import webbrowser
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crawler.urls.canonical import canonical
from docstore.errors import PlumblineError
from docstore.model import Article, Block, BlockKind, Reason
from extractor.page.rendering import to_html, to_json, to_markdown
from pipeline import stages
from pipeline.cli.console import out, say, say_json
from pipeline.cli.grammar import Verb
from pipeline.cli.shared import opened, say_reports, settings_of, settings_or_defaults

if TYPE_CHECKING:
    from extractor.settings import ExtractSettings
    from pipeline.engine import Engine
    from pipeline.explain.extraction import Explained
    from pipeline.explain.url_explanation import TopicRows, UrlExplanation
    from pipeline.page_source import SourcePage

FILE = click.Path(path_type=Path, allow_dash=True)


# -- extract


@click.command(cls=Verb)
@click.pass_context
@click.option("--method", "extract__method", help="Body method.")
@click.option("--again", is_flag=True, help="Extract all saved pages again.")
@click.option("--file", type=FILE, help="Print the article of a page on disk; - for standard input.")
@click.option("--base-url", help="The URL of the page in --file: its links are relative to it.")
@click.option("--url", help="Fetch a page, observing robots.txt and delays, and print its article.")
@click.option(
    "--format", "form", type=click.Choice(["text", "markdown", "html", "json"]), help="How to print it [text]."
)
def extract(
    context: click.Context,
    /,
    again: bool,
    file: Path | None,
    base_url: str | None,
    url: str | None,
    form: str | None,
    **flags: Any,
) -> None:
    """Extract articles from fetched pages; with --file or --url, print the article of one page."""
    check_options(again, file, base_url, url, form)
    if file is None and url is None:
        extract_stage(context, again, **flags)
        return
    settings = settings_or_defaults(context, **flags)
    from pipeline.page_source import address_of, fetch_page, page_in_file

    if file is not None:
        page = page_in_file(file, address_of(base_url) if base_url else "")
    else:
        page = fetch_page(url or "", settings.crawl)
    click.echo(FORMATS[form or "text"](article_of(page, settings.extract)).rstrip("\n"))


def check_options(again: bool, file: Path | None, base_url: str | None, url: str | None, form: str | None) -> None:
    """Refuse what does not go together."""
    if file is not None and url is not None:
        raise click.UsageError("use either --file or --url, not both")
    if again and (file is not None or url is not None):
        raise click.UsageError("--again cannot be combined with --file or --url")
    if base_url is not None and file is None:
        raise click.UsageError("--base-url needs --file")
    if form is not None and file is None and url is None:
        raise click.UsageError("--format needs --file or --url")


def extract_stage(context: click.Context, again: bool, **flags: Any) -> None:
    """The stage."""
    with opened(settings_of(context, **flags)) as engine:
        if again:
            engine.store.articles.again()
        say_reports([stages.extract(engine)])


def article_of(page: "SourcePage", settings: "ExtractSettings") -> Article:
    """The article of a page. PlumblineError with the reason where it has none."""
    from pipeline.page_source import apart, no_page
    from pipeline.workers.page_reading import read_article

    found = apart(page, read_article, page.html, page.url, page.content_type, page.fetched_at, settings)
    if isinstance(found, Article):
        return found
    raise no_page(page.name, found)


def as_text(article: Article) -> str:
    """Title, a line with date, author and source, body."""
    head = [part for part in (article.title, byline(article)) if part]
    return "\n".join([*head, "", article.body] if head else [article.body])


def as_markdown(article: Article) -> str:
    """The same in Markdown."""
    return to_markdown(whole(article))


def as_html(article: Article) -> str:
    """The same as a page."""
    title = f"<title>{escape(article.title)}</title>"
    head = f'<!doctype html>\n<html lang="{escape(article.language)}">\n<meta charset="utf-8">\n{title}'
    return f"{head}\n<article>\n{to_html(whole(article))}\n</article>"


def whole(article: Article) -> list[Block]:
    """The blocks of an article below its title and line."""
    head = (Block(BlockKind.HEADING, article.title, 1), Block(BlockKind.PARAGRAPH, byline(article)))
    return [*(block for block in head if block.text), *article.blocks]


def byline(article: Article) -> str:
    """When, by whom, from where; "" where nothing is known."""
    parts = (article.published_at or article.published, article.author, article.source)
    return " · ".join(part for part in parts if part)


FORMATS: Mapping[str, Callable[[Article], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "html": as_html,
    "json": to_json,
}


# -- explain


@click.command(cls=Verb)
@click.argument("url", required=False)
@click.option("--json", "json_wanted", is_flag=True, help="As JSON.")
@click.option("--blocks", is_flag=True, help="Show for each line of the page why the extractor kept or dropped it.")
@click.option(
    "--page", "drawing", type=click.Path(path_type=Path), help="Write the explanation as an HTML page to this file."
)
@click.option("--open", "open_it", is_flag=True, help="Open the explanation in a browser.")
@click.option("--file", type=FILE, help="Explain a page on disk, fetched from URL; - reads standard input.")
@click.pass_context
def explain(
    context: click.Context,
    url: str | None,
    json_wanted: bool,
    blocks: bool,
    drawing: Path | None,
    open_it: bool,
    file: Path | None,
) -> None:
    """Explain how and when a URL was found, fetched, extracted and indexed."""
    if url is None and file is None:
        raise click.UsageError("give a URL or --file")
    if file is None and not (blocks or drawing or open_it):
        with opened(settings_of(context)) as engine:
            told = explanation_of(engine, url or "")
        if json_wanted:
            say_json(told.as_json())
        else:
            from pipeline.explain.sentences import sentences

            say(sentences(told))
        return
    explained = explained_page(context, url, file)
    if drawing or open_it:
        show(explained, drawing, open_it)
    if blocks or not (drawing or open_it):
        say_explained(explained, json_wanted)


def explained_page(context: click.Context, url: str | None, file: Path | None) -> "Explained":
    """The page on disk, or the one that the vertical keeps."""
    settings = settings_of(context) if file is None else settings_or_defaults(context)
    from pipeline.explain.extraction import explain_page
    from pipeline.page_source import address_of, apart, page_in_file, page_in_store

    if file is not None:
        page = page_in_file(file, address_of(url) if url else "")
        return apart(page, explain_page, page, settings.extract)
    with opened(settings) as engine:
        page = page_in_store(engine, url or "")
    return apart(page, explain_page, page, settings.extract)


def say_explained(explained: "Explained", json_wanted: bool) -> None:
    """The tables on standard output."""
    from pipeline.explain.extraction import as_json, candidate_table, line_table

    if json_wanted:
        click.echo(json.dumps(as_json(explained), ensure_ascii=False, indent=1))
        return
    out.print(explained.summary, markup=False, highlight=False)
    out.print(candidate_table(explained))
    out.print(line_table(explained))


def show(explained: "Explained", drawing: Path | None, open_it: bool) -> None:
    """Write the coloured page, and open it."""
    from pipeline.explain.page import draw

    path = drawing or Path(tempfile.mkdtemp(prefix="plumb-")) / "explain.html"
    try:
        path.write_text(draw(explained), encoding="utf-8", errors="replace")
    except OSError as error:
        raise PlumblineError(f"cannot write {path}: {error.strerror}") from error
    out.print(f"wrote {path}", markup=False, highlight=False)
    if open_it and not webbrowser.open(path.resolve().as_uri()):
        raise PlumblineError(f"no browser could be opened: open {path} yourself")


def explanation_of(engine: "Engine", url: str) -> "UrlExplanation":
    """Everything known of a URL: what the store holds, and Solr's document where there is one.

    Raises PlumblineError for a URL that cannot be one, or was never seen.
    """
    from pipeline.explain.copy_verdicts import copy_verdicts
    from pipeline.explain.url_explanation import UrlExplanation

    known_by = canonical(url)
    if isinstance(known_by, Reason):
        raise PlumblineError(f"{url!r} is not a URL: {known_by}")
    told, topic = engine.store.status.explain(known_by), topic_rows(engine, known_by)
    if told is None and not topic:
        raise PlumblineError(f"{known_by} is unknown: no crawled page links to it, or it is out of scope")
    if told is None:
        return UrlExplanation(None, topic)
    document = engine.index.get(told.article.doc_id) if told.indexed and told.article else None
    return UrlExplanation(told, topic, document, copy_verdicts(engine.store.articles, told))


def topic_rows(engine: "Engine", url: str) -> "TopicRows":
    """What a crawl that looks for a topic thinks of a URL; nothing where none ever did."""
    if not engine.settings.crawl.topic and not engine.store.judgements.count():
        return {}
    from pipeline.topic.explain import explain_topic  # loads scikit-learn

    return explain_topic(engine, url)
