"""Focused crawl for a topic: connects the store, the extractor, the lexicon and the package `focused`."""
