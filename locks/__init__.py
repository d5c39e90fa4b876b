"""Exclusive work without a database: locks of one machine, and the fences of the current work."""
