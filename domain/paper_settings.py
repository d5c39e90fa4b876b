"""Constants of the papers that the focused strategies implement: the tables `[papers]` of the settings file.

This is the only home of each constant. `docs/background/papers.md` lists them beside the papers' values. [D] marks a
value that the paper leaves open. Constants of Wang Du 2019 are settings of `[crawl]`, `[extract]` and `[lexicon]`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from domain.setting import setting


@dataclass(frozen=True)
class PaperFiles:
    """Table [papers]: files that several strategies use."""

    vectors: str = setting(
        "",
        "file with word vectors in word2vec text format, relative to the TOML file (ZK-F1); empty: vectors of the "
        "articles",
    )


@dataclass(frozen=True)
class ZhouKunSettings:
    """Table [papers.zhou_kun]: constants of the strategy `semantic`."""

    link_threshold: float = setting(0.2, "ZK-F5: links with a higher priority are followed; the paper's value")
    page_threshold: float = setting(0.05, "ZK-S1: minimum relevance of an on-topic page [D]")
    by_examples: bool = setting(
        True, "scale relevance so that pages at the edge of the topic have page_threshold; false: ZK-F3 as printed"
    )
    discard_below_threshold: bool = setting(
        True, "ZK-F5: discard links below the threshold; false: fetch them after all others"
    )
    # The principal eigenvector of the comparisons 1:1, 8:1 and 8:1, which are consistent. Structure decides between
    # equals.
    description_weight: float = setting(
        8 / 17, "ZK-F5: alpha, weight of the description, by AHP [D]", minimum=0, maximum=1
    )
    anchor_weight: float = setting(8 / 17, "ZK-F5: beta, weight of the anchor, by AHP [D]", minimum=0, maximum=1)
    structure_weight: float = setting(1 / 17, "ZK-F5: lambda, weight of the URL structure, by AHP [D]")
    word_weights: str = setting(
        "",
        "file with weights of words, one `word weight` per line, relative to the TOML file (ZK-F2); they replace the "
        "computed ones",
    )
    sim_alpha: float = setting(
        0.9, "ZK-A1: weight of the vectors if concepts give no similarity [D]", minimum=0, maximum=1
    )
    sim_beta: float = setting(
        0.6, "ZK-A1: weight of the concepts if they do; vectors get the rest [D]", minimum=0, maximum=1
    )
    th1: float = setting(0.5, "ZK-A1: minimum similarity by vectors [D]", minimum=0, maximum=1)
    th2: float = setting(0.6, "ZK-A1: minimum similarity by concepts [D]", minimum=0, maximum=1)
    first_label_weight: float = setting(0.4, "ZK-A2: a, weight of the first host label [D]", minimum=0)
    label_weight_step: float = setting(0.1, "ZK-A2: b, decrease of the weight from label to label [D]", minimum=0)
    www_divisor: float = setting(2.0, "ZK-A2: d, divisor of the similarity of two labels www [D]")
    first_segment_weight: float = setting(
        0.5, "ZK-A2: a', weight of the first path segment; it halves from segment to segment [D]", minimum=0
    )
    host_weight: float = setting(0.4, "ZK-A2: alpha, weight of the hosts [D]", minimum=0)
    path_weight: float = setting(0.6, "ZK-A2: beta, weight of the paths [D]", minimum=0)
    url_threshold: float = setting(0.55, "ZK-A2: URLs with a higher similarity have the same structure [D]", minimum=0)
    host_containment: str = setting(
        "proper",
        "ZK-A2, step 2: hosts are alike if one is a subdomain of the other (proper) or contains its text (literal)",
        names=("proper", "literal"),
    )
    sample_size: int = setting(50, "ZK-A3: n, number of saved URLs that a link is compared with [D]")
    random_seed: int = setting(0, "ZK-A3: seed of these samples", minimum=0)


@dataclass(frozen=True)
class WuYuetingSettings:
    """Table [papers.wu_yueting]: constants of the tag blocks and of the strategy `topic_library`."""

    k0: float = setting(0.5, "WY-F3: weight of the key tags in the impact of a block; as for impact1 [D]", minimum=0)
    k1: float = setting(0.5, "WY-F3: weight of the block type in the impact of a block; as for impact1 [D]", minimum=0)
    impact1: Mapping[str, float] = setting(
        {"title": 1.0, "content": 0.8, "anchor": 0.5, "other": 0.3, "navigation": 0.1},
        "WY-F4: impact by block type; for pages that are read from then on [D]",
        minimum=0,
    )
    inherited_share: float = setting(
        0.5, "WY-F4: share of the largest impact inside a block that the block gains [D]", minimum=0
    )
    position_values: Mapping[str, float] = setting(
        {"title": 1.0, "content": 0.6, "anchor": 0.5, "other": 0.3, "navigation": 0.1},
        "WY-F14: f_l, position value by block type [D]",
        minimum=0,
    )
    block_weights: Mapping[str, float] = setting(
        {"title": 0.3, "content": 0.6, "anchor": 0.05, "other": 0.05, "navigation": 0.0},
        "WY-F9: c, weight of the similarity by block type [D]",
        minimum=0,
    )
    block_sum: bool = setting(True, "compare a page by block type (WY-F9); false: all blocks together (WY-F15)")
    class_weights: Mapping[str, float] = setting(
        {"professional": 1.0, "subject": 0.8, "judgement": 0.6},
        "WY-F10: weight of the accepted terms by class, in the strategies of the papers [D]",
    )
    eta: float = setting(
        0.2, "WY-F15: minimum similarity of a saved page while no concepts are known [D]", minimum=0, maximum=1
    )
    theta: float = setting(
        0.2, "WY-A3: minimum similarity of a saved page, compared by concepts [D]", minimum=0, maximum=1
    )
    by_examples: bool = setting(
        True, "with two examples or more, examples and fetched pages give the threshold; false: always eta and theta"
    )
    update_pages: int = setting(50, "WY-F7: K, saved pages between two extensions of the dynamic library [D]")
    min_pages: int = setting(5, "WY-F7: minimum number of these pages that contain a new term [D]")


@dataclass(frozen=True)
class ZhangJinSettings:
    """Table [papers.zhang_jin]: constants of the strategy `semantic_tree`."""

    alpha: float = setting(1.6, "ZJ-F5: distance in the tree at which the similarity is one half [D]")
    sem_weight: float = setting(
        0.5, "ZJ-F9: weight of the similarity in the tree; the cosine gets the rest [D]", minimum=0, maximum=1
    )
    position_weights: Mapping[str, float] = setting(
        {"title": 3.0, "anchor": 1.5, "content": 1.0, "navigation": 1.0, "other": 1.0, "description": 0.5},
        "ZJ-F3: weight of a word by block type; description: meta description and keywords [D]",
        minimum=0,
    )
    threshold: float = setting(0.2, "ZJ-A1: minimum similarity of a saved page [D]", minimum=0, maximum=1)
    by_examples: bool = setting(
        True, "with two examples or more, examples and fetched pages give the threshold; false: always threshold"
    )
    delta: float = setting(0.8, "ZJ-F10: weight of a page beside its children; the paper's value", minimum=0, maximum=1)
    majority_share: float = setting(
        2 / 3, "ZJ-F10: minimum share of relevant children that makes them most children [D]", minimum=0, maximum=1
    )
    minority_share: float = setting(
        1 / 3, "ZJ-F10: maximum share of relevant children at which children do not count [D]", minimum=0, maximum=1
    )


@dataclass(frozen=True)
class PaperSettings(PaperFiles):
    """The tables of the settings file below [papers], and [papers] itself."""

    zhou_kun: ZhouKunSettings = field(default_factory=ZhouKunSettings)
    wu_yueting: WuYuetingSettings = field(default_factory=WuYuetingSettings)
    zhang_jin: ZhangJinSettings = field(default_factory=ZhangJinSettings)


DEFAULT_PAPERS = PaperSettings()
