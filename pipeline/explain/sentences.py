"""`plumb explain URL` for a person: what is known of the URL, as sentences. Plain data in, lines out."""

from collections.abc import Iterator, Mapping
from typing import Any

from docstore.model import Kind, Stage
from docstore.reports.url_report import StageOutcome, UrlReport
from pipeline.explain.url_explanation import (
    CopyVerdict,
    TopicRows,
    UrlExplanation,
    legible,
    shown_row,
    shown_text,
)
from pipeline.local_time import local_time


def sentences(told: UrlExplanation) -> Iterator[str]:
    """The path of a URL through the stages: found, asked, extracted, indexed, and what a topic thinks of it."""
    if told.store is not None:
        for tell in (found, asked, kept, extracted):
            yield from tell(told.store)
        yield from related(told.store, told.verdicts)
        yield from indexed(told.store, bool(told.solr))
    yield from judged(told.topic)


def ended(outcome: StageOutcome) -> str:
    """`list_page (59% of the text is links)`."""
    one = legible(outcome)
    return f"{one.reason} ({one.detail})" if one.detail else one.reason


def to_the_second(at: float) -> str:
    """A time without its milliseconds; 0 as it is."""
    return local_time(at)[:19] if at else str(at)


# -- found


def found(told: UrlReport) -> Iterator[str]:
    """How the crawl came to know it."""
    row = legible(told.row)
    yield row.url
    since = to_the_second(row.found_at)
    if row.kind == Kind.SEED:
        yield f"Found {since}: it is a seed of the crawl."
        return
    link = f" by the link “{row.anchor}”" if row.anchor else ""
    where = f" on {shown_text(told.found_on)}{link}" if told.found_on else ", not by a link of a page"
    links = "1 link" if row.depth == 1 else f"{row.depth} links"
    yield f"Found {since}{where}; {links} away from a seed, taken for: {row.kind}."


# -- asked


def asked(told: UrlReport) -> Iterator[str]:
    """What its last visit led to, and when it is next."""
    row, visit = told.row, told.outcome(Stage.CRAWL)
    yield f"Asked last {to_the_second(visit.at)}: {ended(visit)}." if visit else "It has not been asked yet."
    if row.attempts:
        yield f"It failed {row.attempts} times since it was last fetched."
    if row.due_at is None:
        yield "It will not be asked again."
    elif row.due_at:
        yield f"It is due in the first crawl after {to_the_second(row.due_at)}."
    else:
        yield "It is due in the next crawl."


def kept(told: UrlReport) -> Iterator[str]:
    """The answer that is kept of it."""
    if told.page is None:
        return
    page = legible(told.page)
    answered = f"HTTP {page.status}, {page.content_type or 'no type'}"
    yield f"Kept is the answer of {to_the_second(page.fetched_at)}: {answered}, in {page.warc_file}."
    if page.final_url != shown_text(told.row.url):
        yield f"It was redirected to {page.final_url}."


# -- extracted


def extracted(told: UrlReport) -> Iterator[str]:
    """What extraction made of it."""
    outcome = told.outcome(Stage.EXTRACT)
    if outcome:
        yield f"Extracted {to_the_second(outcome.at)}: {ended(outcome)}."
    if told.article:
        article = legible(told.article)
        dated = f", published {article.published}" if article.published else ", without a date"
        by = f", by {article.author}" if article.author else ""
        how = f"language {article.language}, method {article.method}"
        yield f"The article: “{article.title}”{dated}{by}; {how}."
    elif told.page:
        yield "It has no article of its own." if outcome else "It has not been extracted yet: plumb extract."


NAMES_AS = {"next": "its next page", "canonical": "its original"}


def related(told: UrlReport, verdicts: Mapping[int, CopyVerdict]) -> Iterator[str]:
    """The pages that it names, is part of, or repeats."""
    yield from (f"It names {shown_text(tie.target)} as {NAMES_AS[tie.kind]}." for tie in told.ties)
    yield from (f"Part of its article is {shown_text(part.url)}." for part in told.parts)
    for copy in told.near_duplicates:
        stands = ", which stands for both" if copy.stands_for_the_group else ""
        why = differing(verdicts.get(copy.url_id))
        yield f"The same text, published again, is {shown_text(copy.url)}{stands}{why}."
    for other in told.similar:
        yield f"Similar, and no copy, is {shown_text(other.url)}{differing(verdicts.get(other.url_id))}."


def differing(verdict: CopyVerdict | None) -> str:
    """What two texts were judged by, as the end of a sentence."""
    said = "; ".join(filter(None, vars(legible(verdict)).values())) if verdict else ""
    return f" ({said})" if said else ""


# -- indexed


def indexed(told: UrlReport, is_in_solr: bool) -> Iterator[str]:
    """Whether the index has it."""
    refused = told.outcome(Stage.INDEX)
    if told.indexed:
        version = told.indexed.lexicon_version
        by = f"segmented by lexicon version {version}" if version else "segmented without lexicon"
        yield f"In the index since {to_the_second(told.indexed.indexed_at)}, {by}."
        if not is_in_solr:
            yield "But Solr does not have it: plumb index brings it back."
    elif refused:
        yield f"Index {to_the_second(refused.at)}: {ended(refused)}."
    else:
        yield "It is not in the index."
    if told.changes:
        yield "A change of it waits to be indexed: plumb index."


# -- a crawl for a topic


def judged(topic: TopicRows) -> Iterator[str]:
    """What a crawl that looks for a topic thinks of it."""

    def rows(name: str) -> Iterator[dict[str, Any]]:
        return (shown_row(row) for row in topic.get(name, ()))

    for row in rows("judgement"):
        yield f"For the topic {row['topic']} it was {row['was']}: score {row['score']:.3f} by {row['strategy']}."
    for row in rows("left_out"):
        yield f"A link to it (“{row['anchor']}”) on {row['on']} was left out: {row['why']}."
    for row in rows("led_to_by"):
        rest = (f"{name} {value}" for name, value in row.items() if name not in SAID_OF_SOURCE and value != "")
        yield f"{row['page']} ({row['page_score']}) links to it by “{row['anchor']}”: {', '.join(rest)}."
    for row in rows("priority"):
        yield f"Its priority is {row['now']} by {row['strategy']}."
    for row in rows("priority_parts"):
        yield f"  {row['part']}: {row['value']} times {row['weight']} is {row['product']}"


SAID_OF_SOURCE = frozenset({"page", "page_score", "anchor", "context"})
