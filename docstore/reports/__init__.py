"""What is asked about the whole store: counts, one URL's report, runs of the pipeline, the search log."""
