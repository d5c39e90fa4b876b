"""Sitemaps and feeds: when they are fetched, what they list, and how reliable their dates are."""
