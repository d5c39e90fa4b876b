"""The link that a heading has to itself: a mark to click on (¶ # § 🔗), and no part of the text.

<h2 id="install">Install <a class="headerlink" href="#install" title="Permalink to this headline">¶</a></h2>
"""

import re

from extractor.page.tag_info import attribute_value

MAX_PERMALINK_CHARS = 60  # characters of a link that may be one
# What screen readers are told in place of the mark.
PERMALINK_TEXT_RE = re.compile(
    r"\W*(?:permalink|permanent link|(?:direct )?link)(?: to (?:this |the )?(?:\w{1,12} )?"
    r"(?:headline|heading|header|section|title|definition|term|image|table|code|equation|toctree|method|class|attribute))?\W*|"
    r"\W*(?:固定链接|永久链接|固定連結|永久連結|(?:本节|標題|标题|章节)的?(?:链接|連結))\W*",
    re.I,
)


def is_permalink(attribute_text: str, text: str) -> bool:
    """A link to a place of a page that shows nothing but a mark, or the words for one.

    `attribute_text` are those of the link as markup has them, `text` is what it shows.

    >>> is_permalink('class="headerlink" href="#install"', "¶"), is_permalink('href="#install"', "Install")
    (True, False)
    """
    if len(text) > MAX_PERMALINK_CHARS or "#" not in attribute_value("href", attribute_text):
        return False
    return not any(map(str.isalnum, text)) or PERMALINK_TEXT_RE.fullmatch(text) is not None
