"""The pages that anyone may see. `searcher.py` says which questions a page asks Solr."""
