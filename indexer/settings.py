"""Settings of the index stage."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class IndexSettings:
    """Settings of the index: which Solr to use, and how documents are sent.

    An empty `solr_url` means the embedded Solr.
    """

    solr_url: str = field(
        default="",
        metadata={
            "help": "URL of your own SolrCloud: http://host:8983/solr, several nodes separated by commas, or its "
            "ZooKeeper zk://host:2181,host:2181/solr; empty: the embedded Solr. With a password, set "
            "http://user:password@host:8983/solr in the variable PLUMB_INDEX_SOLR_URL"
        },
    )
    shards: int = field(
        default=1,
        metadata={
            "help": "number of shards in your own SolrCloud; duplicates share a shard. A changed number creates a new "
            "collection; searches use the old one until the next index stage has filled it"
        },
    )
    replicas: int = field(
        default=1,
        metadata={"help": "replicas of each shard, each on another node; with 2, searches work while one node is down"},
    )
    collection: str = field(
        default="plumbline",
        metadata={"help": "Solr alias of the index"},
    )
    solr_port: int = field(
        default=0,
        metadata={
            "help": "port of the embedded Solr; its ZooKeeper uses port + 1000; 0: choose free ports",
            "least": 0,
        },
    )
    solr_heap: str = field(
        default="512m",
        metadata={"help": "Java heap of the embedded Solr, for example 512m or 2g"},
    )
    solr_jars: str = field(
        default="",
        metadata={"help": "folder for the jars of the embedded Solr; empty: the cache folder of the user"},
    )
    batch: int = field(
        default=100,
        metadata={"help": "documents per request to Solr"},
    )
    start_timeout: float = field(
        default=120.0,
        metadata={"help": "maximum seconds for the embedded Solr to start"},
    )
    request_timeout: float = field(
        default=30.0,
        metadata={"help": "maximum seconds to wait for a response of Solr"},
    )
