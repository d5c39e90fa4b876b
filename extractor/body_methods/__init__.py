"""Methods: how the body of a page, its title and its date are found. Names are those of the setting `extract.method`.

    blocks           ours, the default              line_scoring.py
    two_pass         WD-A2, Wang Du 2019            two_pass.py
    tag_path_ratio   its baseline, the first pass   tag_path_ratio.py

contract.py says what a method is; adding one is a file and a line here.
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
