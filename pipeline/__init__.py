"""The top: it chains the stages, and only it knows them all.

In: one TOML file that describes a vertical. Out: a search site that stays up to date.

Open `stages.py` first: it is the whole flow on one page. `settings.py` reads the TOML file, `engine.py` opens what
the stages need, `schedule.py` is the timetable, `alerts/` what the operator is told, `cli/` the command line,
`workers/` the processes that read pages, `search_site/` what the search site may do and the server that runs it,
`topic/` a crawl for a topic put together, `explain/` why a page became what it is, `demo/` the bundled vertical.
"""
