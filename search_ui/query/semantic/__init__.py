"""Semantic search: fused lists of hits, quoted answers, related articles. Pure functions."""
