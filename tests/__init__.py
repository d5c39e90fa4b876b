"""Flat tests, named test_<package>_<subject>.py. No folder here bears a package's name."""
