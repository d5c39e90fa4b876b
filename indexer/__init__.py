"""Index stage: writes articles to Solr, searchable within about a second.

Input: the change log of the store and the published lexicon. Output: documents in Solr, and in the store the indexed
state of each URL. Every step runs at least once and is idempotent: ids are stable, the current state of an article
decides what is written, and an entry leaves the change log only after Solr acknowledged it.

Start with sync.py. document_mapping.py builds the documents, solr_index.py sends them, embedded_solr.py runs the
embedded node.
"""
