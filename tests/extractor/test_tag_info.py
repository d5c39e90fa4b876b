"""Start tags: hints in names, metadata and caption elements, visibility."""

import pytest

from extractor.page.tag_info import Hint, attribute_value, parse_tag


@pytest.mark.parametrize(
    ("tag", "markup", "hint"),
    [
        ("div", 'class="article-content"', Hint.BODY),
        ("div", 'id="artibody" class="x"', Hint.BODY),
        ("section", 'itemprop="articleBody"', Hint.BODY),
        ("div", 'class="post comments"', Hint.ARTICLE),
        ("div", 'class="site-footer"', Hint.FOOTER_OR_COMMENTS),
        ("div", 'class="Comments__list"', Hint.FOOTER_OR_COMMENTS),
        ("div", 'class="relatedNews"', Hint.ASIDE),
        ("div", 'class="c2nav_3"', Hint.ASIDE),
        ("div", 'class="relatedpoststitle"', Hint.ASIDE),
        ("div", 'class="embed-sponsored"', Hint.NONE),
        ("div", 'class="tag"', Hint.ASIDE),
        ("div", 'class="tag-oil"', Hint.NONE),
        ("p", 'class="share"', Hint.NONE),
        ("nav", "", Hint.ASIDE),
        ("div", 'role="contentinfo"', Hint.FOOTER_OR_COMMENTS),
        ("div", 'class="story"', Hint.ARTICLE),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_hints(tag: str, markup: str, hint: Hint) -> None:
    assert parse_tag(tag, markup).hint is hint


@pytest.mark.parametrize(
    ("markup", "hidden"),
    [
        ('style="DISPLAY: NONE"', True),
        ('class="x" hidden=""', True),
        ('aria-hidden="true"', True),
        ('class="hide"', True),
        ('class="hide sm:block"', False),
        ('data-hidden="" style="color:red"', False),
        ('class="hidden-gem"', False),
    ],
    ids=str,
)
def test_hidden_elements(markup: str, hidden: bool) -> None:
    assert (parse_tag("div", markup).hint is Hint.HIDDEN) is hidden


@pytest.mark.parametrize(
    ("tag", "markup", "marked", "caption"),
    [
        ("span", 'class="big pubTime"', True, False),
        ("span", 'id="source"', True, False),
        ("span", 'itemprop="datePublished"', True, False),
        ("time", "", True, False),
        ("p", 'class="wp-caption-text"', False, True),
        ("p", 'class="captioned"', False, False),
        ("figure", "", False, True),
        ("span", 'class="big red"', False, False),
    ],
    ids=str,
)
def test_metadata_and_caption_elements(tag: str, markup: str, marked: bool, caption: bool) -> None:
    facts = parse_tag(tag, markup)
    assert (facts.is_metadata, facts.is_caption) == (marked, caption)


@pytest.mark.parametrize(
    ("markup", "value"),
    [('class="a b" id="c"', "c"), ('data-id="x"', ""), ('data-id="x" id="c"', "c"), ("", "")],
    ids=["second", "part of a name", "both", "nothing"],
)
def test_attribute_value(markup: str, value: str) -> None:
    assert attribute_value("id", markup) == value
