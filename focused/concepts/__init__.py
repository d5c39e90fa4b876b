"""Similarity of words by concept files of the administrator, for term proposals and the papers' strategies."""
