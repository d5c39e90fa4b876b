"""The Solr configset that `indexer.solr_index` uploads.

Documents have the fields of `solr_client/solr_fields.py`. Solr indexes each text in four forms: CJK bigrams, single
characters, and words segmented in Python with two dictionaries (base and domain).

Start with `schema.xml`: fields, and the tokens of each text type. `solrconfig.xml` defines commits and request
handlers.
Every file of this folder except Python and Markdown files is part of the configset. A changed byte creates a new
collection (`SolrIndex.ensure_collection`), so nothing is migrated in place.
"""

from pathlib import Path

CONFIGSET_DIR = Path(__file__).parent
