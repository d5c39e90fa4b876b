"""The store of a vertical.

Each stage saves its results (visits, articles, outcomes, review decisions) here and reads its pending work from here. A
result, its outcome and its change-log entry commit in one transaction. Any stage can therefore stop, run separately, or
run twice. Response bodies are in WARC files next to the database; the database stores pointers to them.

Read `schema/` first (the tables, with comments), then `store.py` (the entry point). The stored values are in `domain/`.
All SQL of the project is in this package.
"""
