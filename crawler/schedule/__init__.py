"""Select the next URL to fetch and the time of the next visit. Read `frontier.py` first."""
