"""`plumb explain URL` for a person: what is known of the URL, as sentences. Plain data in, lines out."""

from collections.abc import Iterator, Mapping
from typing import Any

from docstore.model import Stage, UrlKind
from docstore.reports.url_report import StageOutcome, UrlReport
from pipeline.explain.url_explanation import (
    CopyVerdict,
    TopicRows,
    UrlExplanation,
    one_line_text,
    readable,
    readable_row,
)
from pipeline.local_time import local_time


def iter_sentences(explanation: UrlExplanation) -> Iterator[str]:
    """The path of a URL through the stages: found, asked, extracted, indexed, and what a topic thinks of it."""
    if explanation.report is not None:
        for section in (discovery_sentences, visit_sentences, stored_page_sentences, extraction_sentences):
            yield from section(explanation.report)
        yield from relation_sentences(explanation.report, explanation.verdicts)
        yield from index_sentences(explanation.report, bool(explanation.solr_document))
    yield from topic_sentences(explanation.topic_rows)


def format_outcome(outcome: StageOutcome) -> str:
    """`list_page (59% of the text is links)`."""
    readable_text = readable(outcome)
    return f"{readable_text.reason} ({readable_text.detail})" if readable_text.detail else readable_text.reason


def format_second(timestamp: float) -> str:
    """A time without its milliseconds; 0 as it is."""
    return local_time(timestamp)[:19] if timestamp else str(timestamp)


# -- found


def discovery_sentences(report: UrlReport) -> Iterator[str]:
    """How the crawl came to know it."""
    row = readable(report.url_row)
    yield row.url
    found_at = format_second(row.found_at)
    if row.kind == UrlKind.SEED:
        yield f"Found {found_at}: it is a seed of the crawl."
        return
    link = f" by the link “{row.anchor}”" if row.anchor else ""
    where = f" on {one_line_text(report.found_on)}{link}" if report.found_on else ", not by a link of a page"
    links = "1 link" if row.depth == 1 else f"{row.depth} links"
    yield f"Found {found_at}{where}; {links} away from a seed, taken for: {row.kind}."


# -- asked


def visit_sentences(report: UrlReport) -> Iterator[str]:
    """What its last visit led to, and when it is next."""
    row, visit = report.url_row, report.outcome(Stage.CRAWL)
    yield f"Asked last {format_second(visit.at)}: {format_outcome(visit)}." if visit else "It has not been asked yet."
    if row.attempts:
        yield f"It failed {row.attempts} times since it was last fetched."
    if row.due_at is None:
        yield "It will not be asked again."
    elif row.due_at:
        yield f"It is due in the first crawl after {format_second(row.due_at)}."
    else:
        yield "It is due in the next crawl."


def stored_page_sentences(report: UrlReport) -> Iterator[str]:
    """The answer that is kept of it."""
    if report.page is None:
        return
    page = readable(report.page)
    http_summary = f"HTTP {page.status}, {page.content_type or 'no type'}"
    yield f"Kept is the answer of {format_second(page.fetched_at)}: {http_summary}, in {page.warc_file}."
    if page.final_url != one_line_text(report.url_row.url):
        yield f"It was redirected to {page.final_url}."


# -- extracted


def extraction_sentences(report: UrlReport) -> Iterator[str]:
    """What extraction made of it."""
    outcome = report.outcome(Stage.EXTRACT)
    if outcome:
        yield f"Extracted {format_second(outcome.at)}: {format_outcome(outcome)}."
    if report.article:
        article = readable(report.article)
        date_text = f", published {article.published}" if article.published else ", without a date"
        author_text = f", by {article.author}" if article.author else ""
        method_text = f"language {article.language}, method {article.method}"
        yield f"The article: “{article.title}”{date_text}{author_text}; {method_text}."
    elif report.page:
        yield "It has no article of its own." if outcome else "It has not been extracted yet: plumb extract."


LINK_ROLE_TEXT = {"next": "its next page", "canonical": "its original"}


def relation_sentences(report: UrlReport, verdicts: Mapping[int, CopyVerdict]) -> Iterator[str]:
    """The pages that it names, is part of, or repeats."""
    yield from (
        f"It names {one_line_text(relation.target)} as {LINK_ROLE_TEXT[relation.kind]}." for relation in report.ties
    )
    yield from (f"Part of its article is {one_line_text(part.url)}." for part in report.parts)
    for copy in report.near_duplicates:
        suffix = ", which stands for both" if copy.stands_for_the_group else ""
        verdict_text = format_verdict(verdicts.get(copy.url_id))
        yield f"The same text, published again, is {one_line_text(copy.url)}{suffix}{verdict_text}."
    for other in report.similar_articles:
        yield f"Similar, and no copy, is {one_line_text(other.url)}{format_verdict(verdicts.get(other.url_id))}."


def format_verdict(verdict: CopyVerdict | None) -> str:
    """What two texts were judged by, as the end of a sentence."""
    reasons = "; ".join(filter(None, vars(readable(verdict)).values())) if verdict else ""
    return f" ({reasons})" if reasons else ""


# -- indexed


def index_sentences(report: UrlReport, is_in_solr: bool) -> Iterator[str]:
    """Whether the index has it."""
    index_outcome = report.outcome(Stage.INDEX)
    if report.indexed:
        version = report.indexed.lexicon_version
        lexicon_text = f"segmented by lexicon version {version}" if version else "segmented without lexicon"
        yield f"In the index since {format_second(report.indexed.indexed_at)}, {lexicon_text}."
        if not is_in_solr:
            yield "But Solr does not have it: plumb index brings it back."
    elif index_outcome:
        yield f"Index {format_second(index_outcome.at)}: {format_outcome(index_outcome)}."
    else:
        yield "It is not in the index."
    if report.changes:
        yield "A change of it waits to be indexed: plumb index."


# -- a crawl for a topic


def topic_sentences(topic: TopicRows) -> Iterator[str]:
    """What a crawl that looks for a topic thinks of it."""

    def rows(name: str) -> Iterator[dict[str, Any]]:
        return (readable_row(row) for row in topic.get(name, ()))

    for row in rows("judgement"):
        yield f"For the topic {row['topic']} it was {row['was']}: score {row['score']:.3f} by {row['strategy']}."
    for row in rows("left_out"):
        yield f"A link to it (“{row['anchor']}”) on {row['on']} was left out: {row['why']}."
    for row in rows("led_to_by"):
        details = (f"{name} {value}" for name, value in row.items() if name not in SOURCE_FIELDS and value != "")
        yield f"{row['page']} ({row['page_score']}) links to it by “{row['anchor']}”: {', '.join(details)}."
    for row in rows("priority"):
        yield f"Its priority is {row['now']} by {row['strategy']}."
    for row in rows("priority_parts"):
        yield f"  {row['part']}: {row['value']} times {row['weight']} is {row['product']}"


SOURCE_FIELDS = frozenset({"page", "page_score", "anchor", "context"})
