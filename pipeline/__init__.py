"""Top package: it connects the stages; no other package depends on all of them.

Input: one TOML file that describes a vertical. Output: a search site that stays up to date.

Start with `stages.py`, which contains the whole flow. The other modules and packages:

    settings.py, engine.py   read the TOML file; open the resources that the stages need
    cli/                     command line
    runs/                    scheduler, timetable, run records
    maintenance/             backup, restore, integrity check, repair, health check
    alerts/                  alert rules, mail and webhook
    workers/, compute/       worker processes; parallel execution on one machine or a Dask cluster
    embedding/, topic/       embedding models; focused crawls
    search_site/             server of the search site and its access to the store
    explain/, demo/          reports about single pages; the bundled example vertical
"""
