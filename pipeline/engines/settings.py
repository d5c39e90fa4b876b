"""The settings of work that several machines share."""

from dataclasses import dataclass, field

LOCAL, DASK = "local", "dask"


@dataclass(frozen=True)
class ClusterSettings:
    """Who does the work. With more than one machine the store is PostgreSQL (store.url)."""

    engine: str = field(
        default=LOCAL,
        metadata={
            "help": "what computes: local, processes of this machine; dask, the workers of a Dask cluster (needs the "
            "extra cluster, and store.url)",
            "names": (LOCAL, DASK),
        },
    )
    scheduler: str = field(
        default="", metadata={"help": "address of the Dask scheduler, as tcp://scheduler.example.org:8786"}
    )
    crawlers: int = field(
        default=0,
        metadata={
            "help": "crawlers at the same time on the workers, each asking other hosts; 0: this machine crawls alone",
        },
    )
    block: int = field(default=1000, metadata={"help": "pages or articles that a worker does in one piece of work"})
    heartbeat_seconds: float = field(
        default=10.0,
        metadata={
            "help": "seconds after which a machine says again that it is still at its work; after three without a word "
            "others take it over"
        },
    )
