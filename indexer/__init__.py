"""From articles to a searchable index: a real Solr, near real time.

In: the store's change log, and the published lexicon. Out: documents in Solr, and in the store what the index holds.
Everything is done at least once and is safe to repeat: ids are stable, the *present* state of an article decides what
is written, and a line of the change log is struck only after Solr has acknowledged.

Open `sync.py` first; `document_mapping.py` makes the documents, `solr.py` talks to Solr, `solr_node.py` runs the embedded one.
"""
