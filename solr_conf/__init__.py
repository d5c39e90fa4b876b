"""Solr's side of the index: the configset that `indexer.solr_index` uploads.

In come documents with the fields of `docstore/solr_fields.py`; Solr keeps each text four ways: as CJK bigrams, as single
characters, and as the words of two dictionaries that Python has cut. Out come hits, snippets and facets.

Open `schema.xml` first: the fields, and how each text type makes its tokens. `solrconfig.xml` says when a change
is durable and when it is seen, and which URLs exist. Everything in this folder but Python files is the
configset; a change of any byte makes a new collection (`SolrIndex.ensure_collection`), so nothing has to be migrated in place.
"""

from pathlib import Path

CONFIGSET_DIR = Path(__file__).parent
