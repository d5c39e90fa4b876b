"""What all stages share: the document model and the one store.

In: what a stage achieved with one URL (a visit, an article, an outcome, a decision on a term). Out: what is pending
for the next stage. A stage's result, its outcome and its change-log entry commit in one transaction, so any stage can
stop, run alone, or run twice. Fetched bytes lie beside the database in WARC files; the database holds pointers.

Open `model.py` first (the values), then `tables.py` (the tables, commented), then `store.py` (the one way in).
All SQL of the project is in this package.
"""
