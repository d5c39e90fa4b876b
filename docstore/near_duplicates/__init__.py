"""Near-duplicates: clusters of copies, series of similar articles, and compaction of their keys.

Read `clusters.py` first.
"""
