"""Faults tried on the real `plumb`: `make faults` prints the table, the tests beside try a few of each class in CI."""
