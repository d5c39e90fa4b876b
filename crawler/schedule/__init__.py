"""Which URL is asked for next, when, and when again. `frontier.py` first."""
