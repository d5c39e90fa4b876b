"""The test suite; each package has a folder of its own."""
