"""From a reader's words to questions for Solr, and from its answers to results. Knows no Flask."""
