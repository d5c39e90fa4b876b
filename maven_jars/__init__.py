"""Downloads jar files, which package indexes do not provide, and verifies them against lock files."""
