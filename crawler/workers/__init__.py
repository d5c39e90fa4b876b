"""Concurrency of a crawl: fetch threads, the recorder thread, processes or machines on one table, and parsing."""
