"""A crawl for a topic, put together from store, extractor, lexicon and `focused`."""
