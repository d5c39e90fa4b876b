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
            "help": "your own SolrCloud: its base URL, for example http://host:8983/solr, the URLs of several "
            "nodes separated by commas (any of them may be down), or ZooKeeper as "
            "zk://host:2181,host:2181/solr; empty: the embedded Solr. For a password, set the variable "
            "PLUMB_INDEX_SOLR_URL to http://user:password@host:8983/solr"
        },
    )
    shards: int = field(
        default=1,
        metadata={
            "help": "number of shards in your own SolrCloud; all duplicates of a document are in one shard. "
            "Changing it creates a new collection that the next index stage fills; searches use the old "
            "one until then"
        },
    )
    replicas: int = field(
        default=1,
        metadata={
            "help": "number of replicas of each shard, each on another node; with 2, searches continue if one "
            "node is down"
        },
    )
    collection: str = field(
        default="plumbline",
        metadata={"help": "name of the Solr alias that is searched"},
    )
    solr_port: int = field(
        default=0,
        metadata={"help": "port of the embedded Solr; its ZooKeeper uses port + 1000; 0: choose free ports"},
    )
    solr_heap: str = field(
        default="512m",
        metadata={"help": "Java heap size of the embedded Solr, for example 512m or 2g"},
    )
    solr_jars: str = field(
        default="",
        metadata={"help": "folder with the jars of the embedded Solr; empty: the user's cache folder"},
    )
    batch: int = field(
        default=100,
        metadata={"help": "documents sent to Solr in one request"},
    )
    start_timeout: float = field(
        default=120.0,
        metadata={"help": "seconds to wait for the embedded Solr to start"},
    )
    request_timeout: float = field(
        default=30.0,
        metadata={"help": "seconds to wait for the response to a Solr request"},
    )
