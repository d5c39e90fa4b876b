"""SolrCloud with several nodes: nodes from ZooKeeper, and the account of Solr."""
