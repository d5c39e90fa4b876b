"""SolrCloud with several nodes: node lookup in ZooKeeper, and a local cluster for `make cluster` and tests."""
