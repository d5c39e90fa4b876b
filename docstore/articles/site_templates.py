"""Repeated text of the pages of a host, counted during extraction.

For each host the tables contain the number of counted articles. They also contain the number of articles with each line
(by 64-bit hash), and with each text after the title in `<title>`. A page is counted once, even if it is extracted
again. An article is counted once, however many pages show it (print, mobile and AMP versions): the hashes of its text
are stored like those of lines. After HALVE_AFTER_PAGES articles all counts are halved, so that a new site design
outweighs the old one.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, Table, delete, func, select, update

from docstore.database import dialect_insert
from docstore.schema.article_tables import counted_site_pages, site_lines, site_page_counts, site_title_suffixes
from domain.article import PageTraits, SiteTemplate

MIN_TEMPLATE_PAGES = 20  # distinct articles of a host; with fewer, no line is known to be template text
MIN_LINE_SHARE = 0.8  # of the host's articles, for a template line
MIN_REPEATED_PAGES = 3  # articles with a title suffix before it is one of the site ...
MIN_SUFFIX_SHARE = 0.05  # ... and their share of the host's articles: each section may have its own suffix
MAX_ENTRIES_PER_HOST = 5_000  # stored lines and suffixes
MAX_LINES_PER_PAGE = 2_000  # the lowest hashes: a sample that is the same on all pages
MAX_SUFFIX_CHARS = 200
HALVE_AFTER_PAGES = 500
SAMPLE_PAGES = 30  # pages of a new host that are read before the first extraction; some of them are lists


def load_site_template(connection: Connection, host: str) -> SiteTemplate:
    """Return the template of a host."""
    pages = connection.scalar(select(site_page_counts.c.pages).where(site_page_counts.c.host == host)) or 0
    lines = select(site_lines.c.line).where(site_lines.c.host == host, site_lines.c.pages >= MIN_LINE_SHARE * pages)
    suffixes = (
        select(site_title_suffixes.c.tail)
        .where(
            site_title_suffixes.c.host == host,
            site_title_suffixes.c.pages >= max(MIN_REPEATED_PAGES, MIN_SUFFIX_SHARE * pages),
        )
        .order_by(site_title_suffixes.c.pages.desc(), site_title_suffixes.c.tail)
    )
    template_lines = frozenset(connection.scalars(lines)) if pages >= MIN_TEMPLATE_PAGES else frozenset()
    return SiteTemplate(pages, template_lines, tuple(connection.scalars(suffixes)))


def learn_pages(connection: Connection, pages: Iterable[tuple[int, str, PageTraits]]) -> None:
    """Count the traits of pages, given as (url_id, host, traits).

    Pages without an article have no traits. They are skipped, and so are pages counted before.
    """
    pages_with_traits = [page for page in pages if page[2] != PageTraits()]
    counted_ids = set(
        connection.scalars(
            select(counted_site_pages.c.url_id).where(
                counted_site_pages.c.url_id.in_([page[0] for page in pages_with_traits])
            )
        )
    )
    page_by_id = {page[0]: page for page in pages_with_traits if page[0] not in counted_ids}
    if not page_by_id:
        return
    connection.execute(counted_site_pages.insert(), [{"url_id": url_id} for url_id in page_by_id])
    for host in dict.fromkeys(host for _, host, _ in page_by_id.values()):
        learn_host(connection, host, [traits for _, page_host, traits in page_by_id.values() if page_host == host])


def learn_host(connection: Connection, host: str, traits: Sequence[PageTraits]) -> None:
    """Count the traits of pages of one host. Pages with the text of a counted page are skipped."""
    text_hashes = {text_hash for page in traits for text_hash in page.text_hashes}
    known_texts = select(site_lines.c.line).where(site_lines.c.host == host, site_lines.c.line.in_(text_hashes))
    counted_texts = set(connection.scalars(known_texts))
    articles = []
    for page in traits:
        if counted_texts.isdisjoint(page.text_hashes):
            articles.append(page)
        counted_texts |= page.text_hashes
    lines = Counter(
        line for page in articles for line in (*page.text_hashes, *sorted(page.line_hashes)[:MAX_LINES_PER_PAGE])
    )
    suffixes = Counter(page.title_suffix[:MAX_SUFFIX_CHARS] for page in articles if page.title_suffix)
    add_counts(connection, site_page_counts, [{"host": host, "pages": len(articles)}])
    add_counts(connection, site_lines, [{"host": host, "line": line, "pages": n} for line, n in lines.items()])
    add_counts(
        connection, site_title_suffixes, [{"host": host, "tail": suffix, "pages": n} for suffix, n in suffixes.items()]
    )
    for table in (site_lines, site_title_suffixes):
        trim_rare_entries(connection, table, host)
    if (
        connection.scalar(select(site_page_counts.c.pages).where(site_page_counts.c.host == host)) or 0
    ) > HALVE_AFTER_PAGES:
        for table in (site_page_counts, site_lines, site_title_suffixes):
            connection.execute(update(table).where(table.c.host == host).values(pages=table.c.pages // 2))
        for table in (site_lines, site_title_suffixes):
            connection.execute(delete(table).where(table.c.host == host, table.c.pages == 0))


def add_counts(connection: Connection, table: Table, rows: Sequence[dict[str, object]]) -> None:
    """Add the `pages` values of `rows` to the stored counts."""
    statement = dialect_insert(connection.dialect.name, table)
    total = table.c.pages + statement.excluded.pages
    keys = list(table.primary_key.columns)
    if rows:
        connection.execute(statement.on_conflict_do_update(index_elements=keys, set_={"pages": total}), list(rows))


def trim_rare_entries(connection: Connection, table: Table, host: str) -> None:
    """Delete the rarest entries of a host if it has more than MAX_ENTRIES_PER_HOST."""
    is_at_host = table.c.host == host
    if (connection.scalar(select(func.count()).where(is_at_host)) or 0) <= MAX_ENTRIES_PER_HOST:
        return
    cutoff_query = (
        select(table.c.pages).where(is_at_host).order_by(table.c.pages.desc()).offset(MAX_ENTRIES_PER_HOST).limit(1)
    )
    connection.execute(delete(table).where(is_at_host, table.c.pages <= (connection.scalar(cutoff_query) or 0)))
