"""Exclusive work without a database: locks of one machine, the fences of the current work, and private files."""
