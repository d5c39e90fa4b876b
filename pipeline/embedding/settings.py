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
            "help": "embedding model for semantic search: default (small models for Chinese and English, "
            "downloaded once); off; or a folder with your own model.onnx and tokenizer.json"
        },
    )
    languages: tuple[str, ...] = field(
        default=(), metadata={"help": "languages that your own model supports, for example zh, en; empty: all"}
    )
    pooling: str = field(
        default="cls",
        metadata={
            "help": "how your own model combines token vectors into one vector: cls or mean",
            "names": POOLING_MODES,
        },
    )
    query_prefix: str = field(default="", metadata={"help": "text that your own model requires before a query"})
    document_prefix: str = field(default="", metadata={"help": "text that your own model requires before a document"})
    near_enough: float = field(
        default=0.5,
        metadata={"help": "minimum cosine similarity of a semantic match, for your own model"},
    )
    jars: str = field(
        default="", metadata={"help": "folder with the jars of the default models; empty: the user's cache folder"}
    )
    passages: int = field(
        default=12,
        metadata={
            "help": "maximum number of passages embedded from a long article in addition to its beginning, used "
            "for snippets; 0: none"
        },
    )
    processes: int = field(
        default=0, metadata={"help": "number of embedding processes, one CPU core each; 0: one per core"}
    )
