"""Body method `tag_path_ratio`: the baseline of Wang Du 2019, the first pass of WD-A2 without its rules."""

from dataclasses import dataclass

from extractor.body_methods.base import Explanation
from extractor.body_methods.element_counts import count_elements
from extractor.body_methods.explanation import explain_element_counts
from extractor.body_methods.two_pass import body_candidates, paper_score1, rank_elements
from extractor.body_methods.wang_du import WangDuMethod, body_from_element
from extractor.page.parsed_page import Body, ParsedPage
from extractor.settings import ExtractSettings


@dataclass(frozen=True)
class TagPathRatio(WangDuMethod):
    """Chooses the element with the highest score1."""

    settings: ExtractSettings

    def choose_body(self, page: ParsedPage) -> Body | None:
        """Return the best element, whatever its content; None only if no element has text."""
        candidates = [block for block in body_candidates(count_elements(page.root)) if block.text_chars]
        best = rank_elements(candidates, "paper", second_pass=False)[:1]
        return body_from_element(page, best[0]) if best else None

    def explain(self, page: ParsedPage) -> Explanation:
        """Explain the choice: the candidates ranked by score1."""
        candidates = [block for block in body_candidates(count_elements(page.root)) if block.text_chars]
        return explain_element_counts(
            page, rank_elements(candidates, "paper", second_pass=False), paper_score1, self.choose_body(page)
        )
