"""Where the work of a stage is done: in processes of this machine, or those of a Dask cluster. `contract.py` first."""
