"""Similarity of texts: duplicates and edited copies."""
