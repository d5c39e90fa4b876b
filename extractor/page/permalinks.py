"""Detects permalinks of headings: links of a heading to itself (¶ # § 🔗), which are not part of the text.

<h2 id="install">Install <a class="headerlink" href="#install" title="Permalink to this headline">¶</a></h2>
"""

import re

from extractor.page.tag_info import attribute_value

MAX_PERMALINK_CHARS = 60
# Texts for screen readers instead of the symbol.
PERMALINK_TEXT_RE = re.compile(
    r"\W*(?:permalink|permanent link|(?:direct )?link)(?: to (?:this |the )?(?:\w{1,12} )?"
    r"(?:headline|heading|header|section|title|definition|term|image|table|code|equation|toctree|method|class|attribute))?\W*|"
    r"\W*(?:固定链接|永久链接|固定連結|永久連結|(?:本节|標題|标题|章节)的?(?:链接|連結))\W*",
    re.I,
)


def is_permalink(attribute_text: str, text: str) -> bool:
    """Return whether a link leads to a fragment and shows only a symbol or a text such as "Permalink to this headline".

    `attribute_text` contains the attributes of the link as markup; `text` is the text of the link.

    >>> is_permalink('class="headerlink" href="#install"', "¶"), is_permalink('href="#install"', "Install")
    (True, False)
    """
    if len(text) > MAX_PERMALINK_CHARS or "#" not in attribute_value("href", attribute_text):
        return False
    return not any(map(str.isalnum, text)) or PERMALINK_TEXT_RE.fullmatch(text) is not None
