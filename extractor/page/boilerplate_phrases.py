"""Phrases of template text, Chinese and English, that separate boilerplate lines from lines of the article.

The tables contain parts of regular expressions. All expressions are matched against a bounded number of characters.
"""

import re
from collections.abc import Sequence


def join_alternatives(patterns: Sequence[str]) -> str:
    """Return a regular expression group that matches any of the patterns."""
    return "(?:" + "|".join(patterns) + ")"


COPYRIGHT_PATTERNS = (
    r"copyright(?:ed)?\s?(?:©|\(c\)|(?:19|20)\d\d|by\b|notice|:|-|$)", r"©\s?(?:copyright|(?:19|20)\d\d)",
    r"\(c\)\s*(?:19|20)\d\d", "all rights reserved", "版权所有", "版權所有", "著作權",
    "保留所有权利", "icp备", "icp證", "icp证", r"icp\s*[\d(（]", "公网安备", "网安备",
    "经营许可证", "許可證", "许可证(?:号|编号|：|:)", "违法和不良信息", "不良信息举报",
    "未经.{0,12}(?:授权|许可|允许).{0,20}(?:转载|使用|复制|镜像)", "网站标识码", "备案(?:号|编号|序号)",
    r"^(?:.{0,60}[.!?。|·]\s?)?copyright\W*$", "^©", "^本[文页頁](?:打印|列印)自",
    r"^(?:this page was )?printed from\b(?:[^,]|,(?= \d| http)){1,80}$",
)  # fmt: skip
# Match at the start of a short line.
CHINESE_LABEL_PATTERNS = (
    "责任编辑", "責任編輯", "编辑[:：]", "編輯[:：]", "责编", "值班编辑", "本文编辑", "校对[:：]", "本文来源",
    "原标题", "来源[:：]", "來源[:：]", "稿源[:：]", "文章来源", "作者[:：]", "记者[:：]", "发布(?:时间|日期|者)",
    "发表(?:时间|于)", "时间[:：]", "日期[:：]", "分享(?:到|至|给|按钮|此)", "分享$", "扫一扫", "扫码",
    "扫描二维码", "微信扫", "长按", "关注我们", "关注微信",
    "相关(?:阅读|新闻|报道|链接|推荐|文章|专题|热词|资讯|标签)", "延伸閱讀", "推荐阅读",
    "更多(?:精彩|新闻|内容|阅读|相关)", "猜你喜欢", "热门(?:推荐|新闻|文章|评论)", "精彩推荐",
    "点击(?:查看|进入|下载|排行|加载|阅读)", "上一[篇页頁条]", "下一[篇页頁条]", "地址[:：]", "电话[:：]",
    "邮编[:：]", "邮箱[:：]", "传真[:：]", "主办(?:单位)?[:：]", "承办(?:单位)?[:：]",
    "返回(?:首页|顶部|列表|目录)", "我要(?:评论|留言|纠错|发言|举报)", "网友评论", "发表评论", r"已有\d*人",
    "查看全部评论", "打印本页", "打印$", "关闭窗口", "关闭本页", "【?(?:打印|关闭|收藏|纠错|字号|大 中 小)",
    "当前位置", "您(?:现在|当前)?(?:所在)?的?位置", "您所在", "首页$", "首页 ?[>》]", "登录", "注册", "用户名",
    "验证码", "免责声明", "特别声明", "郑重声明", "声明[:：]", "版权声明", "举报", "阅读原文", "展开全文",
    "加载更多", "查看更多", "正在加载", "请先登录", "点赞", "赞$", "踩$", r"阅读(?:数|量)?[:：]?\s*\d+$",
    "浏览(?:次数|量)?[:：]?", "访问量", r"评论\s*[(（\d]", "标签[:：]", "关键[词字](?:[:：]| >)", "分类[:：]",
    "字体[:：]", "字号", "字體[:：]", "關鍵[字詞](?:[:：]| >)", "標籤[:：]", "分類[:：]", "記者[:：]",
    "發[布佈表](?:時間|日期|者|於)", "時間[:：]", "相關(?:閱讀|新聞|報導|連結|鏈接|推薦|文章|專題)", "推薦閱讀",
    "更多(?:精彩|新聞|內容|閱讀|相關)", "猜你喜歡", "熱門(?:推薦|新聞|文章|評論|留言)", "點擊(?:查看|進入|下載|排行)",
    "分享(?:至|給|按鈕)", "加入.{0,8}(?:粉絲團|好友)", "免責聲明", "版權聲明", "發表(?:評論|留言|回應)",
    "我要(?:評論|留言)", r"讚(?: ?\d+)?$", "正文(?:已)?[结結]束", r"閱讀(?:數|量)?[:：]?\s*\d+$", "瀏覽",
)  # fmt: skip
# Match a complete short line.
ENGLISH_LABEL_PATTERNS = (
    "share", "tweet", "pin it", "email", "print", "save", "copy link", "follow", "sign ?up", "sign in", "log ?in",
    "subscribe", "newsletter", "advertisement", "advertising", "advert", "sponsored", "trending",
    "recommended(?: for you)?", "menu", "search", "home", "loading", "close", "comments?", "no comments",
    "add a comment", "tags?", "filed under", "categories", "category", "previous(?: post| article)?",
    "next(?: post| article)?", "skip to", "table of contents", "back to top", "privacy policy",
    "terms of (?:use|service)", "cookie", "we use cookies", "your email address", "getty images", "like this",
    "written by", "posted (?:by|on|in)", "published", "updated", "last updated", "by",
    r"\d+ min(?:ute)?s?(?: read)?", "article content", "caption", "read (?:more|next|also)", "related", "ap", "afp",
    "reuters",
)  # fmt: skip
# Match at the start of a short line: captions, credits, references, calls to action.
ENGLISH_PREFIX_PATTERNS = (
    "(?:image|media|photo|picture|video) ?(?:caption|credit|source|:)", r"image \d+ of \d+",
    r"\(?(?:image|picture|photo)s?(?: credit)?:", "file photo", "photo(?:graph)? by",
    r"(?:read|see|watch|learn) (?:more|next)\b", r"(?:read|watch|learn) also\b", r"see also\b.(?!.*\.$)",
    r"(?:also )?read\s*[:|]", r"related\s*[:|]",
    "don['’]t miss", "reporting by ", "additional reporting",
    r"(?:first |last )?(?:published|updated|posted|modified)\b.{0,40}\d", "our standards:", "click here",
    "sign up (?:for|to)", "subscribe (?:to|now)", "follow (?:us|me|@|our)", "like us on", r"join (?:us|our)\b",
    "get (?:the|our) (?:latest|best|free)", "this (?:article|story) (?:was|is) ", "media playback is",
    r"sponsored\b", "sources?:", "via:", "by [a-z]+ [a-z]+$", "share (?:this|on|via|with)", "tags?:",
    "topics?:", "copyright", "author of the article",
    "related (?:tags|topics|stories|articles|posts|links|content|news|reading)", r"more (?:in|from|on|stories)\b",
    "post comment", "leave a (?:reply|comment)", "post a comment", "join the (?:conversation|discussion)",
    r"\d+ (?:comments?|shares?|views|likes)",
)  # fmt: skip
# Match at the start of a line: the original title or the original publisher of a republished article.
REPUBLICATION_PATTERNS = (
    "原标题",
    "原標題",
    "原题[:：]",
    "原题为",
    "原文(?:标题|链接|地址)",
    "本文(?:转载自|转自|来源)",
    "(?:免责|版权)声明\\s?[:：]",
)
# Editor signatures: the article ends here, no matter how much text follows.
EDITOR_SIGNATURE_PATTERNS = (
    "责任编辑", "責任編輯", "责编", "責編", "编辑[:：丨|]", "編輯[:：丨|]", "(?:本文|本期)编辑", "值班编辑",
    "审核[:：]", "校对[:：]", "正文(?:已)?[结結]束", "[（(]?(?:全文完|本文完|完)[)）]$",
)  # fmt: skip
# Headings after the end of an article. The Chinese ones match at the start of a line, the English ones a complete line.
CHINESE_END_PATTERNS = (
    "责任编辑", "責任編輯", "责编", "相关(?:阅读|新闻|报道|链接|推荐|文章|专题|资讯)", "延伸閱讀", "推荐阅读",
    "猜你喜欢", "热门(?:推荐|新闻|文章|评论)", "精彩推荐", "更多(?:精彩|新闻|相关)", "网友评论", "发表评论",
    "最新评论", "我要评论", "相關(?:閱讀|新聞|報導|連結|推薦|文章|專題)", "推薦閱讀", "猜你喜歡",
    "熱門(?:推薦|新聞|文章|留言)", "更多(?:新聞|相關)", "發表(?:評論|留言|回應)", "編輯部推薦", "全站熱搜",
)  # fmt: skip
ENGLISH_END_PATTERNS = (
    "related(?: articles?| stories| posts| content| news| reading)?",
    r"more (?:from|in|on|about|stories|news|articles|posts)\b.{0,40}", "most (?:read|popular|viewed)",
    "recommended(?: for you| stories| reading| articles| posts)?",
    "you (?:may|might) (?:also )?(?:like|be interested in|enjoy)", "what to read next", "read (?:this )?next",
    "up next",
    "keep reading", "leave a (?:reply|comment)", "post a comment", r"comments?(?: \(\d+\))?",
    r"\d+ (?:comments?|responses|replies|thoughts on)\b.{0,40}", "join the (?:conversation|discussion)",
    "about the authors?", "trending(?: now)?", "latest (?:news|stories|posts|articles)", "sign up for .{0,60}",
    "subscribe to .{0,60}", r"share this(?: \w+)?",
)  # fmt: skip
# A picture credit at the end of a caption: "(Image: Getty)".
PHOTO_CREDIT_RE = re.compile(
    r"[(\[](?:image|photo|picture|pic|credit|source|file)s?(?: credit| by| courtesy)?\s?[:/]?\s[^()\[\]]{1,60}[)\]]\W?$"
)
MONTH_PATTERN = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
BYLINE_PATTERNS = (
    r"(?:19|20)\d\d\s*[-/.年]\s*\d{1,2}\s*[-/.月]\s*\d{1,2}", r"\d{1,2}:\d\d",
    rf"\b{MONTH_PATTERN}\.? \d{{1,2}},? (?:19|20)\d\d", rf"\b\d{{1,2}} {MONTH_PATTERN} (?:19|20)\d\d", "来源", "來源",
    "作者", "编辑", "发布", "阅读", "浏览", "评论", "字号", r"\bby\b", "min read", "updated", "published",
)  # fmt: skip

# Matched against lower-case text: case-sensitive matching is much faster in the re module.
COPYRIGHT_RE = re.compile(join_alternatives(COPYRIGHT_PATTERNS))
# Every notice contains one of these keywords. Searching for them first is much faster than matching COPYRIGHT_RE.
COPYRIGHT_KEYWORDS = (
    "copyright", "©", "(c)", "all rights reserved", "icp", "版权所有", "版權所有", "著作權", "保留所有权利", "网安备",
    "许可证", "許可證", "不良信息", "未经", "网站标识码", "备案", "printed from", "打印自", "列印自",
)  # fmt: skip
ENGLISH_LABEL_PATTERN = (
    rf"{join_alternatives(ENGLISH_PREFIX_PATTERNS)}|{join_alternatives(ENGLISH_LABEL_PATTERNS)}\s*+[:：>»…(]*+\s*+$"
)
ENGLISH_LABEL_RE = re.compile(rf"[\W_]*(?:{ENGLISH_LABEL_PATTERN})")
LABEL_RE = re.compile(rf"[\W_]*(?:{join_alternatives(CHINESE_LABEL_PATTERNS)}|{ENGLISH_LABEL_PATTERN})")
ARTICLE_END_RE = re.compile(
    rf"[\W_]*(?:{join_alternatives(CHINESE_END_PATTERNS)}|{join_alternatives(ENGLISH_END_PATTERNS)}\s*+[:：>»…]*+\s*+$)"
)
BYLINE_RE = re.compile(join_alternatives(BYLINE_PATTERNS))
REPUBLICATION_RE = re.compile(rf"[\W_]*{join_alternatives(REPUBLICATION_PATTERNS)}")
EDITOR_SIGNATURE_RE = re.compile(rf"[\W_]*{join_alternatives(EDITOR_SIGNATURE_PATTERNS)}")
# Values for machines: URLs, timestamps, JSON.
MACHINE_VALUE_RE = re.compile(r"https?://\S+$|\d{4}-\d\d-\d\dt[\d:.+z-]+$|(?:\[?\{)\s?\"[^\"]{1,60}\"\s?:")
MAX_BYLINE_CHARS = 90
MAX_END_HEADING_CHARS = 80  # length limit of editor signatures and of headings that end an article


def is_copyright(text: str) -> bool:
    """Return whether a line contains a copyright or registration notice."""
    lowercase_text = text[:500].lower()
    for word in COPYRIGHT_KEYWORDS:
        if word in lowercase_text:
            return COPYRIGHT_RE.search(lowercase_text) is not None
    return False


def is_template_label(text: str) -> bool:
    """Return whether a line begins like a label, button, caption or notice of a site template. For short lines only."""
    lowercase_text = text[:200].lower()
    is_ascii = lowercase_text.isascii()
    return (ENGLISH_LABEL_RE.match(lowercase_text) if is_ascii else LABEL_RE.match(lowercase_text)) is not None


def is_machine_value(text: str) -> bool:
    """Return whether a line begins with a value for machines: a URL, a timestamp or JSON."""
    return text[:1] in "h{[12" and MACHINE_VALUE_RE.match(text[:300].lower()) is not None


def is_republication_note(text: str) -> bool:
    """Return whether a line is a Chinese note on republication or liability ("原标题:", "本文转载自", "免责声明：")."""
    return not text.isascii() and REPUBLICATION_RE.match(text[:20]) is not None


def is_editor_signature(text: str) -> bool:
    """Return whether a line names the editor, as lines below an article do ("责任编辑：...")."""
    return len(text) <= MAX_END_HEADING_CHARS and EDITOR_SIGNATURE_RE.match(text) is not None


def ends_with_photo_credit(text: str) -> bool:
    """Return whether a line ends with a picture credit in Latin letters: "(Image: Getty)"."""
    return text.endswith((")", "]", ").", ") ")) and PHOTO_CREDIT_RE.search(text[-90:].lower()) is not None


def is_article_end(text: str) -> bool:
    """Return whether a line is the heading of a part that follows an article: comments, related news."""
    return len(text) <= MAX_END_HEADING_CHARS and ARTICLE_END_RE.match(text.lower()) is not None


def is_byline(text: str) -> bool:
    """Return whether a short line contains a date, source, author or counter, as lines between title and text do."""
    if len(text) > MAX_BYLINE_CHARS or "。" in text or (len(text) > 40 and text.endswith((".", "!", "?", "！", "？"))):
        return False
    return BYLINE_RE.search(text.lower()) is not None
