"""Concurrency of a crawl: fetch threads, the recorder thread, and several processes or machines on one table."""
