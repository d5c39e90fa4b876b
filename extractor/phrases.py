"""Words that tell a line of template text from a line of the article, Chinese and English.

The tables hold pieces of regular expressions. All of them are matched against a bounded number of characters.
"""

import re
from collections.abc import Sequence


def one_of(pieces: Sequence[str]) -> str:
    """A group that matches any of the pieces."""
    return "(?:" + "|".join(pieces) + ")"


NOTICES = (
    r"copyright\b", "©", r"\(c\)\s*(?:19|20)\d\d", "all rights reserved", "版权所有", "版權所有", "著作權",
    "保留所有权利", r"[\u4e00-\u9fff]?ICP备", "ICP證", "ICP证", r"ICP\s*[\d(（]", "公网安备", "网安备",
    "经营许可证", "許可證", "许可证(?:号|编号|：|:)", "违法和不良信息", "不良信息举报",
    "未经.{0,12}(?:授权|许可|允许).{0,20}(?:转载|使用|复制|镜像)", "网站标识码", "备案(?:号|编号|序号)",
)  # fmt: skip
# At the start of a short line.
CHINESE_LABELS = (
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
    "字体[:：]", "字号",
)  # fmt: skip
# The whole of a short line.
ENGLISH_LABELS = (
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
# At the start of a short line: captions, credits, pointers, calls.
ENGLISH_BEGINNINGS = (
    "(?:image|media|photo|picture|video) ?(?:caption|credit|source|:)", r"image \d+ of \d+",
    r"\(?(?:image|picture|photo)s?(?: credit)?:", "file photo", "photo(?:graph)? by",
    r"(?:read|see|watch|learn) (?:more|next|also)\b", r"(?:also )?read\s*[:|]", r"related\s*[:|]", r"see also\b",
    "don['’]t miss", "reporting by ", "additional reporting",
    r"(?:first |last )?(?:published|updated|posted|modified)\b.{0,40}\d", "our standards:", "click here",
    "sign up (?:for|to)", "subscribe (?:to|now)", "follow (?:us|me|@|our)", "like us on", r"join (?:us|our)\b",
    "get (?:the|our) (?:latest|best|free)", "this (?:article|story) (?:was|is) ", "media playback is",
    r"sponsored\b", "sources?:", "via:", "by [A-Z][a-z]+ [A-Z][a-z]+$", "share (?:this|on|via|with)", "tags?:",
    "topics?:", "copyright", "author of the article",
    "related (?:tags|topics|stories|articles|posts|links|content|news|reading)", r"more (?:in|from|on|stories)\b",
    "post comment", "leave a (?:reply|comment)", "post a comment", "join the (?:conversation|discussion)",
    r"\d+ (?:comments?|shares?|views|likes)",
)  # fmt: skip
# Headings behind which nothing of the article comes any more: at the start of a Chinese line, the whole of an English.
CHINESE_ENDS = (
    "责任编辑", "責任編輯", "责编", "相关(?:阅读|新闻|报道|链接|推荐|文章|专题|资讯)", "延伸閱讀", "推荐阅读",
    "猜你喜欢", "热门(?:推荐|新闻|文章|评论)", "精彩推荐", "更多(?:精彩|新闻|相关)", "网友评论", "发表评论",
    "最新评论", "我要评论",
)  # fmt: skip
ENGLISH_ENDS = (
    "related(?: articles?| stories| posts| content| news| reading)?",
    r"more (?:from|in|on|about|stories|news|articles|posts)\b.{0,40}", "most (?:read|popular|viewed)",
    "recommended(?: for you| stories| reading| articles| posts)?",
    "you (?:may|might) (?:also )?(?:like|be interested in|enjoy)", "what to read next", "read next", "up next",
    "keep reading", "leave a (?:reply|comment)", "post a comment", r"comments?(?: \(\d+\))?",
    r"\d+ (?:comments?|responses|replies|thoughts on)\b.{0,40}", "join the (?:conversation|discussion)",
    "about the authors?", "trending(?: now)?", "latest (?:news|stories|posts|articles)", "sign up for .{0,60}",
    "subscribe to .{0,60}", r"share this(?: \w+)?",
)  # fmt: skip
MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
METAS = (
    r"(?:19|20)\d\d\s*[-/.年]\s*\d{1,2}\s*[-/.月]\s*\d{1,2}", r"\d{1,2}:\d\d",
    rf"\b{MONTH}\.? \d{{1,2}},? (?:19|20)\d\d", rf"\b\d{{1,2}} {MONTH} (?:19|20)\d\d", "来源", "來源", "作者",
    "编辑", "发布", "阅读", "浏览", "评论", "字号", r"\bby\b", "min read", "updated", "published",
)  # fmt: skip

COPYRIGHT = re.compile(one_of(NOTICES), re.I)
TEMPLATE = re.compile(
    rf"[\W_]*(?:{one_of(CHINESE_LABELS)}|{one_of(ENGLISH_BEGINNINGS)}|{one_of(ENGLISH_LABELS)}\s*[:：>»…(]*\s*$)", re.I
)
END = re.compile(rf"[\W_]*(?:{one_of(CHINESE_ENDS)}|{one_of(ENGLISH_ENDS)}\s*[:：>»…]*\s*$)", re.I)
META_LINE = re.compile(one_of(METAS), re.I)
# Values meant for machines: addresses, time stamps, JSON.
MACHINE = re.compile(r"https?://\S+|\d{4}-\d\d-\d\dT[\d:.+Z-]+|[{\[].*\":.*[}\]]")
LONGEST_META = 90  # characters of a line with date and author
LONGEST_END = 80  # characters of a heading that ends an article


def is_copyright(text: str) -> bool:
    """The line is, or holds, a copyright or registration notice."""
    return COPYRIGHT.search(text[:500]) is not None


def is_template(text: str) -> bool:
    """The line begins like a label, a button, a caption or a notice of the site's template; ask of short lines only."""
    return TEMPLATE.match(text[:200]) is not None or MACHINE.fullmatch(text[:300]) is not None


def ends_article(text: str) -> bool:
    """The line heads comments, related news or another part that follows articles."""
    return len(text) <= LONGEST_END and END.match(text) is not None


def is_meta_line(text: str) -> bool:
    """A short line that holds a date, a source, an author or a counter, as stands between title and text."""
    if len(text) > LONGEST_META or "。" in text or (len(text) > 40 and text.endswith((".", "!", "?", "！", "？"))):
        return False
    return META_LINE.search(text) is not None
