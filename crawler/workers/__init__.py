"""Concurrency of a crawl: fetch threads, the recorder thread, machines on one table, and parsing."""
