"""Solr as a client sees it: the names of its fields, and the HTTP session."""
