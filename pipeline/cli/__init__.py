"""The command line: one file a group of commands, `main.py` puts them together, `report.py` shows answers."""
