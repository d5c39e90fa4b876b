"""Similarity of texts: duplicates, edited copies, reports of the same event."""
