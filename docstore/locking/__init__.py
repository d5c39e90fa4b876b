"""Exclusive work: locks for one machine, and leases for all machines that share the store.

Read `file_locks.py` first: the locks of the stages on one machine. With a PostgreSQL store, `cluster_locks.py` adds a
lease. `leases.py` contains the leases: rows with an expiry time and a fencing token. `fences.py` passes the leases of a
stage to its commits and requests, in all its threads and processes.
"""
