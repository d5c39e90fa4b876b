"""Body methods: find the body, the title and the date of a page. The setting `extract.method` selects one by name.

    blocks           default                                       line_scoring.py
    two_pass         WD-A2, Wang Du 2019                           two_pass.py
    tag_path_ratio   baseline of WD-A2: its first pass             tag_path_ratio.py

base.py defines the interface. To add a method, write a module and add it to BODY_METHODS.
"""

from collections.abc import Callable, Mapping

from extractor.body_methods.base import BodyMethod
from extractor.body_methods.line_scoring import LineScoring
from extractor.body_methods.tag_path_ratio import TagPathRatio
from extractor.body_methods.two_pass import TwoPass
from extractor.settings import ExtractSettings

BODY_METHODS: Mapping[str, Callable[[ExtractSettings], BodyMethod]] = {
    "blocks": LineScoring,
    "two_pass": TwoPass,
    "tag_path_ratio": TagPathRatio,
}
