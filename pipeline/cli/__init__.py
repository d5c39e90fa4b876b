"""The command line: one module for each group of commands. `main.py` lists them, `console.py` prints output."""
