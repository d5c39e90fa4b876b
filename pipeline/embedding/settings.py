"""Settings of the section `[embed]`: the stage `embed` and semantic search."""

from dataclasses import dataclass, field

DEFAULT_MODEL, MODEL_OFF = "default", "off"
POOLING_MODES = ("cls", "mean")


@dataclass(frozen=True)
class EmbedSettings:
    """The embedding model and how much of each article it embeds."""

    model: str = field(
        default=DEFAULT_MODEL,
        metadata={
            "help": "model for semantic search: default (small models for Chinese and English, downloaded once), off, "
            "or a folder with model.onnx and tokenizer.json"
        },
    )
    languages: tuple[str, ...] = field(
        default=(), metadata={"help": "languages that your own model supports, such as zh, en; empty: all"}
    )
    pooling: str = field(
        default="cls",
        metadata={"help": "how your own model pools token vectors: cls or mean", "names": POOLING_MODES},
    )
    query_prefix: str = field(default="", metadata={"help": "prefix that your own model expects before a query"})
    document_prefix: str = field(default="", metadata={"help": "prefix that your own model expects before a text"})
    near_enough: float = field(
        default=0.5,
        metadata={"help": "minimum cosine similarity of your own model for a semantic match"},
    )
    jars: str = field(
        default="", metadata={"help": "folder for the jars of the default models; empty: the user's cache folder"}
    )
    passages: int = field(
        default=4,
        metadata={
            "help": "passages of a longer article that are embedded after its beginning, for result excerpts; 0: none",
            "least": 0,
        },
    )
    processes: int = field(
        default=0, metadata={"help": "embedding processes, one core each; 0: one per core", "least": 0}
    )
