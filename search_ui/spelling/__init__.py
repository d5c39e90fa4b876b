"""Suggests corrections and alternative searches. No Flask."""
