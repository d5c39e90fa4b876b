"""Who may do which work: one process of this machine, or of all machines that share the store.

Open `file_locks.py` first: what a stage holds while it works, on one machine. Where PostgreSQL is the store,
`cluster_locks.py` adds a lease to it; `leases.py` are rows with an end and a token, which is checked in each commit.
"""
