"""Several Solr nodes: where ZooKeeper says that they are, and nodes of our own on this machine, for `make cluster`."""
