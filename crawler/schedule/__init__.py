"""Select the next URL to fetch and the time of the next visit. Open `frontier.py` first."""
