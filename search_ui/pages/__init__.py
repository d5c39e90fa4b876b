"""The pages that anyone may see. `search_service.py` says which questions a page asks Solr."""
