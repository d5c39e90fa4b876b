"""What the pages of a host have in common, counted as they are extracted.

For each host: how many pages were counted, on how many each line stands (by its 64-bit hash), and how often what
followed the title in `<title>`. A page counts once, however often it is extracted. Old pages fade: past AGE pages all
counts are halved, so that a site's new design is learned although its old one was seen more often.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, Table, delete, func, select, update

from docstore.database import insert_into
from docstore.model import PageTraits, SiteKnowledge
from docstore.schema.article_tables import site_lines, site_pages, site_tails, sites

MIN_PAGES = 3  # on fewer pages a line does not repeat
LINE_SHARE = 0.3  # of a host's pages show a line that is no article's text
TAIL_SHARE = 0.05  # of a host's pages end their <title> so: each channel may have an ending of its own
MAX_LINES = 5_000  # kept of a host; of each page the LINES_OF_PAGE lowest hashes, a sample that pages share
LINES_OF_PAGE = 2_000
LONGEST_TAIL = 200
AGE = 2_000  # pages
SAMPLE_PAGES = 20  # of a host that is not known yet are looked at before the first of them is extracted


def knowledge_of(connection: Connection, host: str) -> SiteKnowledge:
    """What is known of a host."""
    pages = connection.scalar(select(sites.c.pages).where(sites.c.host == host)) or 0
    lines = select(site_lines.c.line).where(
        site_lines.c.host == host, site_lines.c.pages >= max(MIN_PAGES, LINE_SHARE * pages)
    )
    tails = (
        select(site_tails.c.tail)
        .where(site_tails.c.host == host, site_tails.c.pages >= max(MIN_PAGES, TAIL_SHARE * pages))
        .order_by(site_tails.c.pages.desc(), site_tails.c.tail)
    )
    return SiteKnowledge(pages, frozenset(connection.scalars(lines)), tuple(connection.scalars(tails)))


def learn(connection: Connection, pages: Iterable[tuple[int, str, PageTraits]]) -> None:
    """Count what pages (url_id, host, traits) teach; pages without traits, and those counted before, do not count."""
    teaching = [page for page in pages if page[2] != PageTraits()]
    known = set(
        connection.scalars(select(site_pages.c.url_id).where(site_pages.c.url_id.in_([page[0] for page in teaching])))
    )
    new = {page[0]: page for page in teaching if page[0] not in known}
    if not new:
        return
    connection.execute(site_pages.insert(), [{"url_id": url_id} for url_id in new])
    for host in dict.fromkeys(host for _, host, _ in new.values()):
        learn_host(connection, host, [traits for _, of, traits in new.values() if of == host])


def learn_host(connection: Connection, host: str, traits: Sequence[PageTraits]) -> None:
    """Add pages of one host."""
    lines = Counter(line for page in traits for line in sorted(page.lines)[:LINES_OF_PAGE])
    tails = Counter(page.title_tail[:LONGEST_TAIL] for page in traits if page.title_tail)
    add(connection, sites, [{"host": host, "pages": len(traits)}])
    add(connection, site_lines, [{"host": host, "line": line, "pages": n} for line, n in lines.items()])
    add(connection, site_tails, [{"host": host, "tail": tail, "pages": n} for tail, n in tails.items()])
    for table in (site_lines, site_tails):
        trim(connection, table, host)
    if (connection.scalar(select(sites.c.pages).where(sites.c.host == host)) or 0) > AGE:
        fade(connection, host)


def add(connection: Connection, table: Table, rows: Sequence[dict[str, object]]) -> None:
    """Add the `pages` of `rows` to those counted before."""
    statement = insert_into(connection, table)
    total = table.c.pages + statement.excluded.pages
    keys = list(table.primary_key.columns)
    if rows:
        connection.execute(statement.on_conflict_do_update(index_elements=keys, set_={"pages": total}), list(rows))


def trim(connection: Connection, table: Table, host: str) -> None:
    """Forget what was seen least where a host has more than MAX_LINES entries."""
    mine = table.c.host == host
    if (connection.scalar(select(func.count()).where(mine)) or 0) <= MAX_LINES:
        return
    ranked = select(table.c.pages).where(mine).order_by(table.c.pages.desc()).offset(MAX_LINES).limit(1)
    connection.execute(delete(table).where(mine, table.c.pages <= (connection.scalar(ranked) or 0)))


def fade(connection: Connection, host: str) -> None:
    """Halve all counts of a host."""
    for table in (sites, site_lines, site_tails):
        connection.execute(update(table).where(table.c.host == host).values(pages=table.c.pages // 2))
    for table in (site_lines, site_tails):
        connection.execute(delete(table).where(table.c.host == host, table.c.pages == 0))
