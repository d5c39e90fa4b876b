"""Reports on the whole store: counts, the report of one URL, runs of the pipeline, alerts, the search log."""
