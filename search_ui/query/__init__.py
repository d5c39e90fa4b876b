"""Parses a search request, builds the Solr requests for it and reads the responses.

No I/O except in `solr_client`; no Flask.
"""
