"""Settings of the stage `embed` and of finding by meaning."""

from dataclasses import dataclass, field

DEFAULT_MODEL, MODEL_OFF = "default", "off"
POOLING_MODES = ("cls", "mean")


@dataclass(frozen=True)
class EmbedSettings:
    """Which model understands texts, and how much of them it is given."""

    model: str = field(
        default=DEFAULT_MODEL,
        metadata={
            "help": "what finds by meaning: default (small models for Chinese and English, fetched once); off; or a "
            "folder of your own with model.onnx and tokenizer.json"
        },
    )
    languages: tuple[str, ...] = field(
        default=(), metadata={"help": "languages that your own model understands, as zh, en; none: all"}
    )
    pooling: str = field(
        default="cls",
        metadata={"help": "how your own model makes one vector of many: cls or mean", "names": POOLING_MODES},
    )
    query_prefix: str = field(default="", metadata={"help": "what your own model wants before a query"})
    document_prefix: str = field(default="", metadata={"help": "what your own model wants before a text"})
    near_enough: float = field(
        default=0.5,
        metadata={
            "help": "cosine from which on your own model finds two texts alike; what no word finds has to be as near"
        },
    )
    jars: str = field(
        default="", metadata={"help": "folder of the default models' jars; empty: the user's cache folder"}
    )
    passages: int = field(
        default=12,
        metadata={"help": "passages of a longer article that are read besides its beginning, for what hits show"},
    )
    processes: int = field(
        default=0, metadata={"help": "processes that read articles, one core each; 0: as many as there are cores"}
    )
