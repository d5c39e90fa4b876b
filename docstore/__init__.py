"""The document model and the store, shared by all stages.

Each stage saves its results (visits, articles, outcomes, review decisions) here and reads its pending work from here. A
result, its outcome and its change-log entry commit in one transaction. Any stage can therefore stop, run separately, or
run twice. Response bodies are in WARC files next to the database; the database stores pointers to them.

Read `model.py` first (the values), then `schema/` (the tables, with comments), then `store.py` (the entry point). All
SQL of the project is in this package.
"""
