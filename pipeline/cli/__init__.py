"""The command line: one file a group of commands, `main.py` lists them, `console.py` says answers."""
