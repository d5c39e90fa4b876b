"""The crawl stage: from seeds to kept pages, politely and incrementally (Wang Du 2019, steps 1 of WD-S1).

In: `CrawlSettings` (seeds, scope, limits) and the frontier table of the store. Out: one `Visit` per fetch, recorded
in batches: the page, its outcome, the links it led to, and when it is due again. The stage's `StageReport` counts
outcomes per reason.

Open `crawl.py` first, then `crawl_loop.py`: take, fetch, keep, follow. The folders are what a URL passes:

    schedule/   which URL is next: the frontier, its queues, the throttle of each host, the URL-seen test; and what a
                finished fetch amounts to (`result_handler.py`), with the time of its next visit
    robots/     whether it may be asked for and followed
    http/       one request inside its limits: time, bytes, URLs that are not inside
    pages/      what an answer says: links, redirects by markup, soft 404s, encodings
    urls/       how URLs compare: canonical forms, DUST (different URLs, similar text), traps
    sitemaps/   what a site says it has: sitemaps, feeds, and whether their dates can be believed
    parallel/   the threads that fetch, the thread that records, several processes over one table

What is worth following is up to the guide of a crawl for a topic (`guide.py`, `focused/`); without one a crawl is
breadth first.
docs/operate/crawling.md has the rules.
"""
