"""Which pages are one article, and which articles are copies of another. `resolve.py` first."""
