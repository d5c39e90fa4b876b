"""Settings of the section `[embed]`: the stage `embed` and semantic search."""

from dataclasses import dataclass
from typing import ClassVar

from domain.setting import Group, SettingEffect, setting

DEFAULT_MODEL, MODEL_OFF = "default", "off"
POOLING_MODES = ("cls", "mean")


@dataclass(frozen=True)
class EmbedSettings:
    """The embedding model and how much of each article it embeds."""

    GROUP: ClassVar[Group] = "search"
    EFFECT: ClassVar = SettingEffect.RUN_AND_RESTART
    model: str = setting(
        DEFAULT_MODEL,
        "model for semantic search: default (small models for Chinese and English, downloaded once), off, "
        "or a folder with model.onnx and tokenizer.json",
        is_file_only=True,
    )
    languages: tuple[str, ...] = setting((), "languages that your own model supports, such as zh, en; empty: all")
    pooling: str = setting("cls", "how your own model pools token vectors: cls or mean", names=POOLING_MODES)
    query_prefix: str = setting("", "prefix that your own model expects before a query")
    document_prefix: str = setting("", "prefix that your own model expects before a text")
    near_enough: float = setting(0.5, "minimum cosine similarity of your own model for a semantic match")
    jars: str = setting(
        "", "folder for the jars of the default models; empty: the user's cache folder", is_file_only=True
    )
    passages: int = setting(
        4,
        "passages of a longer article that are embedded after its beginning, for result excerpts; 0: none",
        minimum=0,
        effect=SettingEffect.NEXT_RUN,
    )
    processes: int = setting(
        0, "embedding processes, one core each; 0: one per core", minimum=0, effect=SettingEffect.NEXT_RUN
    )
