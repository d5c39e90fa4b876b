"""Detect crawler traps: URL patterns, statistics of URL families and probes of nonexistent URLs."""
