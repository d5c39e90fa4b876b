"""Integrity of the store: checksums of data that cannot be derived again, checks, and salvage of a damaged database."""
