"""Faults injected into the real `plumb`. `make faults` prints the table; the tests run a few of each class in CI."""
