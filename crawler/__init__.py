"""The crawl stage: from seeds to kept pages, politely and incrementally (Wang Du 2019, steps 1 of WD-S1).

In: `CrawlSettings` (seeds, scope, limits) and the frontier table of the store. Out: one `Visit` per fetch, recorded
in batches: the page, its outcome, the links it led to, and when it is due again. The stage's `StageReport` counts
outcomes per reason.

Open `crawl.py` first, then `run.py`: the loop. It takes from `frontier.py` (queues by `queues.py`, manners by
`politeness.py`), asks through `fetch.py` in `workers.py` (`connections.py`, `addresses.py` and `coding.py` keep it
inside its limits), obeys `robots.py`, reads `links.py`, sitemaps and feeds (`errands.py`, `declared.py`), cleans
addresses with `urls.py`, skips what `seen.py` knows and what `traps.py` warns of, and dates the next visit by
`revisit.py` (`judging.py` puts that together). `recorder.py` hands batches to the store, `shards.py` runs several
processes. What is worth following is up to a strategy of `strategies/`. docs/crawling.md has the rules.
"""
