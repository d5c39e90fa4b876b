"""The top: it chains the stages, and only it knows them all.

In: one TOML file that describes a vertical. Out: a search site that stays up to date.

Open `stages.py` first: it is the whole flow on one page. `settings.py` reads the TOML file, `engine.py` opens what
the stages need, `cli.py` is the command line, `schedule.py` the timetable, `demo/` the bundled vertical.
"""
