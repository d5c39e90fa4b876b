"""The crawl stage: fetches pages from seed URLs, politely and incrementally (Wang Du 2019, step 1 of WD-S1).

Input: `CrawlSettings` (seeds, scope, limits) and the frontier table of the store. Output: one `Visit` per fetch,
recorded in batches: the page, its outcome, its new links and its next due time. The stage's `StageReport` counts
outcomes by reason.

Open `crawl.py` first, then `crawl_loop.py`. The folders follow the path of a URL:

    schedule/   selects the next URL: frontier, queues, throttle of each host, URL-seen test, revisit policy
    robots/     robots.txt and robots directives of pages
    http/       one request within limits of time, size and IP addresses
    parsing/    links, redirects in markup and soft 404s of a response
    urls/       canonical forms of URLs
    dedup/      duplicate pages and DUST (different URLs, similar text)
    traps/      endless URL spaces
    sitemaps/   sitemaps and feeds, and how reliable their dates are
    workers/    fetch threads, recorder thread, several machines on one table

A focused crawl scores pages and links with a `FocusedPolicy` (`focused_policy.py`, `focused/`). Without one, the
crawl is breadth first. docs/operate/crawling.md describes the rules.
"""
