"""The public pages. `search_service` sends the Solr requests of a page."""
