"""Every URL ever accepted, when it is due, and what its visits led to. `table.py` first."""
