"""Settings of the indexer: which Solr, and how documents are sent to it."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class IndexSettings:
    """How the index is reached. With `solr_url` empty the program runs a Solr of its own beside its data."""

    solr_url: str = field(
        default="",
        metadata={
            "help": "base URL of your own SolrCloud, as http://host:8983/solr, or those of its nodes with commas "
            "between (any of them may go), or its ZooKeeper as zk://host:2181,host:2181/solr; empty: the embedded one. "
            "Where it asks for a password: http://user:password@host:8983/solr in the variable PLUMB_INDEX_SOLR_URL"
        },
    )
    shards: int = field(
        default=1,
        metadata={
            "help": "shards of the index in your own SolrCloud; each holds whole groups of copies. Another number "
            "makes a new collection, which the next index stage fills while the old one answers"
        },
    )
    replicas: int = field(
        default=1,
        metadata={"help": "copies of each shard, on as many nodes; with 2 searches go on while one node is gone"},
    )
    collection: str = field(
        default="plumbline",
        metadata={"help": "name in Solr under which the index is searched (an alias)"},
    )
    solr_port: int = field(
        default=0,
        metadata={"help": "port of the embedded Solr, its ZooKeeper takes port + 1000; 0: choose free ones"},
    )
    solr_heap: str = field(
        default="512m",
        metadata={"help": "memory of the embedded Solr's Java heap, as 512m or 2g"},
    )
    solr_jars: str = field(
        default="",
        metadata={"help": "folder of the embedded Solr's jars; empty: the user's cache folder"},
    )
    batch: int = field(
        default=100,
        metadata={"help": "documents sent to Solr at once"},
    )
    start_timeout: float = field(
        default=120.0,
        metadata={"help": "seconds the embedded Solr may take to start"},
    )
    request_timeout: float = field(
        default=30.0,
        metadata={"help": "seconds Solr may take to answer a request"},
    )
