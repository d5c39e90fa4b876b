"""`plumb explain URL` as sentences for a person. Input is plain data, output is lines of text."""

from collections.abc import Iterator, Mapping
from typing import Any

from docstore.reports.url_report import UrlReport
from domain.frontier import UrlKind
from domain.outcome import Stage
from pipeline.explain.url_explanation import (
    CopyVerdict,
    TopicRows,
    UrlExplanation,
    one_line_text,
    readable,
    readable_row,
)
from pipeline.local_time import local_second


def iter_sentences(explanation: UrlExplanation) -> Iterator[str]:
    """Yield the history of a URL by stage: discovery, crawl, extraction, index, and the focused crawl."""
    if explanation.report is not None:
        for section in (discovery_sentences, visit_sentences, stored_page_sentences, extraction_sentences):
            yield from section(explanation.report)
        yield from relation_sentences(explanation.report, explanation.verdicts)
        yield from index_sentences(explanation.report, bool(explanation.solr_document), explanation.solr_error)
    yield from topic_sentences(explanation.topic_rows)


def format_outcome(outcome: Any) -> str:
    """Format an outcome: `list_page (59% of the text is links)`."""
    readable_text = readable(outcome)
    return f"{readable_text.reason} ({readable_text.detail})" if readable_text.detail else readable_text.reason


def format_second(timestamp: float) -> str:
    """Format a time in seconds, without milliseconds; 0 stays "0"."""
    return local_second(timestamp) if timestamp else str(timestamp)


# -- discovery


def discovery_sentences(report: UrlReport) -> Iterator[str]:
    """Yield how the crawl found the URL."""
    row = readable(report.url_row)
    yield row.url
    found_at = format_second(row.found_at)
    if row.kind == UrlKind.SEED:
        yield f"Found {found_at}: seed URL of the crawl."
        return
    link = f" by the link “{row.anchor}”" if row.anchor else ""
    source = f" on {one_line_text(report.found_on)}{link}" if report.found_on else ", not by a link on a page"
    links = "1 link" if row.depth == 1 else f"{row.depth} links"
    yield f"Found {found_at}{source}; {links} from a seed URL, classified as {row.kind}."


# -- crawl


def visit_sentences(report: UrlReport) -> Iterator[str]:
    """Yield the outcome of the last visit, and the time of the next visit."""
    row, visit = report.url_row, report.outcome(Stage.CRAWL)
    yield f"Last crawled {format_second(visit.at)}: {format_outcome(visit)}." if visit else "Not crawled yet."
    if row.attempts:
        yield f"Failed attempts since the last successful fetch: {row.attempts}."
    if row.due_at is None:
        yield f"It will not be crawled again: {row.exclusion}."
    elif row.due_at:
        yield f"Due in the first crawl after {format_second(row.due_at)}."
    else:
        yield "Due in the next crawl."


def stored_page_sentences(report: UrlReport) -> Iterator[str]:
    """Yield the sentences about the saved response."""
    if report.page is None:
        return
    page = readable(report.page)
    http_summary = f"HTTP {page.status}, {page.content_type or 'no type'}"
    yield f"Saved response of {format_second(page.fetched_at)}: {http_summary}, in {page.warc_file}."
    if page.final_url != one_line_text(report.url_row.url):
        yield f"Redirected to {page.final_url}."


# -- extraction


def extraction_sentences(report: UrlReport) -> Iterator[str]:
    """Yield the outcomes of OCR and of the extraction."""
    if recognition := report.outcome(Stage.OCR):
        yield f"Read by OCR {format_second(recognition.at)}: {format_outcome(recognition)}."
    outcome = report.outcome(Stage.EXTRACT)
    if outcome:
        yield f"Extracted {format_second(outcome.at)}: {format_outcome(outcome)}."
    if report.article:
        article = readable(report.article)
        date_text = f", published {article.published}" if article.published else ", without a date"
        author_text = f", by {article.author}" if article.author else ""
        method_text = f"language {article.language}, method {article.method}"
        yield f"Article: “{article.title}”{date_text}{author_text}; {method_text}."
    elif report.page:
        yield "No article." if outcome else "Not extracted yet. Run `plumb extract`."


LINK_ROLE_TEXT = {"next": "Next page", "canonical": "Canonical URL"}


def relation_sentences(report: UrlReport, verdicts: Mapping[int, CopyVerdict]) -> Iterator[str]:
    """Yield related pages: next page, canonical URL, parts of the article, duplicates and similar articles."""
    yield from (f"{LINK_ROLE_TEXT[relation.kind]}: {one_line_text(relation.target)}." for relation in report.ties)
    yield from (f"Its article includes the page {one_line_text(part.url)}." for part in report.parts)
    for copy in report.near_duplicates:
        suffix = ", which represents both" if copy.stands_for_the_group else ""
        verdict_text = format_verdict(verdicts.get(copy.url_id))
        yield f"Duplicate: {one_line_text(copy.url)}{suffix}{verdict_text}."
    for other in report.similar_articles:
        yield f"Similar, but not a duplicate: {one_line_text(other.url)}{format_verdict(verdicts.get(other.url_id))}."


def format_verdict(verdict: CopyVerdict | None) -> str:
    """Format a verdict as the end of a sentence; "" if there is none."""
    reasons = "; ".join(filter(None, vars(readable(verdict)).values())) if verdict else ""
    return f" ({reasons})" if reasons else ""


# -- index


def index_sentences(report: UrlReport, is_in_solr: bool, solr_error: str) -> Iterator[str]:
    """Yield the state of the document in the index."""
    index_outcome = report.outcome(Stage.INDEX)
    if report.indexed:
        version = report.indexed.lexicon_version
        lexicon_text = f"segmented by lexicon version {version}" if version else "segmented without lexicon"
        yield f"In the index since {format_second(report.indexed.indexed_at)}, {lexicon_text}."
        if solr_error:
            yield f"The index was not checked: {solr_error}"
        elif not is_in_solr:
            yield "Missing from Solr. Run `plumb index` to restore it."
    elif index_outcome:
        yield f"Indexing {format_second(index_outcome.at)}: {format_outcome(index_outcome)}."
    else:
        yield "Not in the index."
    if report.changes:
        yield "A change is pending indexing. Run `plumb index`."


# -- focused crawl


def topic_sentences(topic: TopicRows) -> Iterator[str]:
    """Yield the decision and priority of the focused crawl."""

    def rows(name: str) -> Iterator[dict[str, Any]]:
        return (readable_row(row) for row in topic.get(name, ()))

    for row in rows("judgement"):
        yield f"For the topic {row['topic']} the page was {row['was']}: score {row['score']:.3f} by {row['strategy']}."
    for row in rows("left_out"):
        yield f"A link to it (“{row['anchor']}”) on {row['on']} was skipped: {row['why']}."
    for row in rows("led_to_by"):
        details = (f"{name} {value}" for name, value in row.items() if name not in SOURCE_FIELDS and value != "")
        yield f"{row['page']} ({row['page_score']}) links to it with the text “{row['anchor']}”: {', '.join(details)}."
    for row in rows("priority"):
        yield f"Priority {row['now']} by {row['strategy']}."
    for row in rows("priority_parts"):
        yield f"  {row['part']}: {row['value']} times {row['weight']} is {row['product']}"


SOURCE_FIELDS = frozenset({"page", "page_score", "anchor", "context"})
