"""`plumb explain URL` for a person: what `explain` answers, as sentences. Plain data in, lines out."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Row = Mapping[str, Any]
Answer = Mapping[str, list[Row]]
SEED = "seed"


def sentences(answer: Answer) -> Iterator[str]:
    """The path of a URL through the stages: found, asked, extracted, indexed, and what a topic thinks of it."""
    for tell in PATH:
        yield from tell(answer)


def first(answer: Answer, name: str) -> Row:
    """The one row of a part; empty where there is none."""
    rows = answer.get(name)
    return rows[0] if rows else {}


def outcome(answer: Answer, stage: str) -> Row:
    """The last outcome of a stage."""
    return next((row for row in answer.get("outcomes", ()) if row["stage"] == stage), {})


def ended(row: Row) -> str:
    """`list_page (59% of the text is links)`."""
    return f"{row['reason']} ({row['detail']})" if row["detail"] else str(row["reason"])


def to_the_second(at: Any) -> str:
    """A time as `report` shows it, without the milliseconds."""
    return str(at)[:19]


# -- found


def found(answer: Answer) -> Iterator[str]:
    """How the crawl came to know it."""
    row = first(answer, "urls")
    if not row:
        return
    yield str(row["url"])
    since = to_the_second(row["found_at"])
    if row["kind"] == SEED:
        yield f"Found {since}: it is a seed of the crawl."
        return
    source = first(answer, "found_on").get("url")
    link = f" by the link “{row['anchor']}”" if row["anchor"] else ""
    where = f" on {source}{link}" if source else ", not by a link of a page"
    links = "1 link" if row["depth"] == 1 else f"{row['depth']} links"
    yield f"Found {since}{where}; {links} away from a seed, taken for: {row['kind']}."


# -- asked


def asked(answer: Answer) -> Iterator[str]:
    """What its last visit led to, and when it is next."""
    row, visit = first(answer, "urls"), outcome(answer, "crawl")
    if not row:
        return
    if visit:
        yield f"Asked last {to_the_second(visit['at'])}: {ended(visit)}."
    else:
        yield "It has not been asked yet."
    if row["attempts"]:
        yield f"It failed {row['attempts']} times since it was last fetched."
    if row["due_at"] is None:
        yield "It will not be asked again."
    elif row["due_at"]:
        yield f"It is due in the first crawl after {to_the_second(row['due_at'])}."
    else:
        yield "It is due in the next crawl."


def kept(answer: Answer) -> Iterator[str]:
    """The answer that is kept of it."""
    row = first(answer, "pages")
    if not row:
        return
    answered = f"HTTP {row['status']}, {row['content_type'] or 'no type'}"
    yield f"Kept is the answer of {to_the_second(row['fetched_at'])}: {answered}, in {row['warc_file']}."
    if row["final_url"] != first(answer, "urls").get("url"):
        yield f"It was redirected to {row['final_url']}."


# -- extracted


def extracted(answer: Answer) -> Iterator[str]:
    """What extraction made of it."""
    row, article = outcome(answer, "extract"), first(answer, "articles")
    if row:
        yield f"Extracted {to_the_second(row['at'])}: {ended(row)}."
    if article:
        dated = f", published {article['published']}" if article["published"] else ", without a date"
        by = f", by {article['author']}" if article["author"] else ""
        how = f"language {article['language']}, method {article['method']}"
        yield f"The article: “{article['title']}”{dated}{by}; {how}."
    elif first(answer, "pages"):
        yield "It has no article of its own." if row else "It has not been extracted yet: plumb extract."


NAMES_AS = {"next": "its next page", "canonical": "its original"}


def related(answer: Answer) -> Iterator[str]:
    """The pages that it names, is part of, or repeats."""
    yield from (f"It names {row['target']} as {NAMES_AS[row['kind']]}." for row in answer.get("ties", ()))
    yield from (f"Part of its article is {row['url']}." for row in answer.get("parts", ()))
    for row in answer.get("near_duplicates", ()):
        stands = ", which stands for both" if row["stands_for_the_group"] else ""
        yield f"The same text, published again, is {row['url']}{stands}{differing(row)}."
    for row in answer.get("similar", ()):
        yield f"Similar, and no copy, is {row['url']}{differing(row)}."


def differing(row: Row) -> str:
    """What two texts were judged by, as the end of a sentence."""
    said = "; ".join(filter(None, (row.get("verdict", ""), row.get("differences", ""))))
    return f" ({said})" if said else ""


# -- indexed


def indexed(answer: Answer) -> Iterator[str]:
    """Whether the index has it."""
    row, waiting = first(answer, "indexed"), answer.get("changes")
    if row:
        by = (
            f"segmented by lexicon version {row['lexicon_version']}"
            if row["lexicon_version"]
            else "segmented without lexicon"
        )
        yield f"In the index since {to_the_second(row['indexed_at'])}, {by}."
        if not answer.get("solr"):
            yield "But Solr does not have it: plumb index brings it back."
    elif refused := outcome(answer, "index"):
        yield f"Index {to_the_second(refused['at'])}: {ended(refused)}."
    elif answer.get("urls"):
        yield "It is not in the index."
    if waiting:
        yield "A change of it waits to be indexed: plumb index."


# -- a crawl for a topic


def judged(answer: Answer) -> Iterator[str]:
    """What a crawl that looks for a topic thinks of it."""
    for row in answer.get("judgement", ()):
        yield f"For the topic {row['topic']} it was {row['was']}: score {row['score']:.3f} by {row['strategy']}."
    for row in answer.get("left_out", ()):
        yield f"A link to it (“{row['anchor']}”) on {row['on']} was left out: {row['why']}."
    for row in answer.get("led_to_by", ()):
        rest = (f"{name} {value}" for name, value in row.items() if name not in SAID_OF_SOURCE and value != "")
        yield f"{row['page']} ({row['page_score']}) links to it by “{row['anchor']}”: {', '.join(rest)}."
    for row in answer.get("priority", ()):
        yield f"Its priority is {row['now']} by {row['strategy']}."
    for row in answer.get("priority_parts", ()):
        yield f"  {row['part']}: {row['value']} times {row['weight']} is {row['product']}"


SAID_OF_SOURCE = frozenset({"page", "page_score", "anchor", "context"})
PATH: tuple[Callable[[Answer], Iterator[str]], ...] = (found, asked, kept, extracted, related, indexed, judged)
