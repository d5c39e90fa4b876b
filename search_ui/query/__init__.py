"""Parses a search request, builds the Solr requests for it and reads the responses. `search.py` runs all steps.

request   search_request.py (from a URL), query_parser.py, cursors.py, paging.py, filter_fields.py
words     segmentation.py, content_words.py, thesaurus.py
requests  solr_requests.py, ranking.py, full_matches.py, filters.py, solr_query.py (typed queries), solr_client.py
page      results.py, facets.py, highlight.py, display_text.py, score_explanation.py
semantic/ hybrid ranking, quoted answers, related articles

No I/O except in `solr_client`; no Flask.
"""
