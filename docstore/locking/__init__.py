"""Exclusive work on all machines that share the store.

`leases.py` contains the leases: rows with an expiry time and a fencing token. With a PostgreSQL store,
`cluster_locks.py` adds a lease to the file lock of a stage (`locks/file_locks.py`). `locks/fences.py` passes the leases
of a stage to its commits and requests, in all its threads and processes.
"""
