"""Alerts for the administrator: inputs from the store, rules over them, and channels that deliver the alerts."""
