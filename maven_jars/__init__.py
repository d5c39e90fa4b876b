"""Files that a package index does not have: fetched once, each held against our own lock."""
