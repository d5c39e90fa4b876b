"""Followed searches: matching new articles, and delivering them by mail and webhook."""
