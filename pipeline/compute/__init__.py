"""Where stages run their parallel work: local processes or the workers of a Dask cluster. Start with `backend.py`."""
