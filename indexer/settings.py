"""Settings of the index stage."""

from dataclasses import dataclass
from typing import ClassVar

from domain.setting import Group, Secrecy, SettingEffect, setting


@dataclass(frozen=True)
class IndexSettings:
    """Settings of the index: which Solr to use, and how documents are sent.

    An empty `solr_url` means the embedded Solr.
    """

    GROUP: ClassVar[Group] = "machine"
    EFFECT: ClassVar = SettingEffect.RUN_AND_RESTART
    solr_url: str = setting(
        "",
        "URL of your own SolrCloud: http://host:8983/solr, several nodes separated by commas, or its "
        "ZooKeeper zk://host:2181,host:2181/solr; empty: the embedded Solr. With a password, set "
        "http://user:password@host:8983/solr in the variable PLUMB_INDEX_SOLR_URL",
        secrecy=Secrecy.WITH_CREDENTIALS,
        is_file_only=True,
    )
    shards: int = setting(
        1,
        "number of shards in your own SolrCloud; duplicates share a shard. A changed number creates a new "
        "collection; searches use the old one until the next index stage has filled it",
    )
    replicas: int = setting(
        1, "replicas of each shard, each on another node; with 2, searches work while one node is down"
    )
    collection: str = setting("plumbline", "Solr alias of the index")
    solr_port: int = setting(
        0, "port of the embedded Solr; its ZooKeeper uses port + 1000; 0: choose free ports", minimum=0, maximum=64535
    )
    solr_heap: str = setting("512m", "Java heap of the embedded Solr, for example 512m or 2g")
    solr_jars: str = setting(
        "", "folder for the jars of the embedded Solr; empty: the cache folder of the user", is_file_only=True
    )
    batch: int = setting(100, "documents per request to Solr")
    start_timeout: float = setting(120.0, "maximum seconds for the embedded Solr to start")
    request_timeout: float = setting(30.0, "maximum seconds to wait for a response of Solr")
