"""Maintenance of a vertical: integrity check, repair, backup, restore and health checks."""
