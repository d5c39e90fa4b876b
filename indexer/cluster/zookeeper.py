"""Looks up the nodes of a SolrCloud in its ZooKeeper.

live_node_urls("zk://plumb:word@zk1:2181,zk2:2181/solr", 30)   # "http://plumb:word@node1:8983/solr,http://..."
"""

import json
from urllib.parse import quote

from domain.errors import SettingsError, SolrUnavailableError
from solr_client.session import split_credentials

ZOOKEEPER_SCHEME = "zk://"
LIVE_NODES_PATH, CLUSTER_PROPERTIES_PATH = "/live_nodes", "/clusterprops.json"


def live_node_urls(zookeeper_url: str, timeout: float) -> str:
    """Return the base URLs of all live nodes in the format of `index.solr_url`.

    They contain the credentials of `zookeeper_url`.

    Raises:
        SolrUnavailableError: ZooKeeper is not responding or lists no live node.
        SettingsError: The packages for ZooKeeper are not installed.
    """
    hosts, account = split_credentials(zookeeper_url.replace(ZOOKEEPER_SCHEME, "http://", 1))
    hosts = hosts.removeprefix("http://")
    try:
        from kazoo.client import KazooClient
        from kazoo.exceptions import KazooException
        from kazoo.handlers.threading import KazooTimeoutError
    except ImportError as error:
        raise SettingsError(
            "index.solr_url with zk:// needs additional packages: pip install 'plumbline-search[cluster]'"
        ) from error
    client = KazooClient(hosts=hosts, timeout=timeout, read_only=True)
    try:
        client.start(timeout)
        nodes = client.get_children(LIVE_NODES_PATH)
        cluster_properties = (
            json.loads(client.get(CLUSTER_PROPERTIES_PATH)[0]) if client.exists(CLUSTER_PROPERTIES_PATH) else {}
        )
    except (KazooException, KazooTimeoutError, ValueError) as error:
        raise SolrUnavailableError(
            f"ZooKeeper of SolrCloud at {hosts} is not responding ({type(error).__name__}): start it, or correct "
            "index.solr_url (zk://host:2181,host:2181/solr)"
        ) from error
    finally:
        client.stop()
        client.close()
    if not nodes:
        raise SolrUnavailableError(f"ZooKeeper at {hosts} lists no live Solr node: start one")
    return ",".join(node_base_url(node, cluster_properties.get("urlScheme", "http"), account) for node in sorted(nodes))


def node_base_url(node: str, scheme: str, account: tuple[str, str] | None) -> str:
    """Return the base URL of a node from its name in ZooKeeper.

    >>> node_base_url("solr1:8983_solr", "http", ("plumb", "a@b"))
    'http://plumb:a%40b@solr1:8983/solr'
    """
    userinfo = f"{quote(account[0], safe='')}:{quote(account[1], safe='')}@" if account else ""
    return f"{scheme}://{userinfo}{node.replace('_', '/', 1)}"
