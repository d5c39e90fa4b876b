"""Words that tell a line of template text from a line of the article, Chinese and English."""

import re

COPYRIGHT = re.compile(
    r"copyright\b|©|\(c\)\s*(?:19|20)\d\d|all rights reserved|版权所有|版權所有|著作權|保留所有权利|"
    r"[\u4e00-\u9fff]?ICP备|ICP證|ICP证|ICP\s*[\d(（]|公网安备|网安备|经营许可证|許可證|许可证(?:号|编号|：|:)|"
    r"违法和不良信息|不良信息举报|未经.{0,12}(?:授权|许可|允许).{0,20}(?:转载|使用|复制|镜像)|网站标识码|备案(?:号|编号|序号)",
    re.I,
)
# Lines that are template text wherever they stand; matched at the start of a line.
TEMPLATE = re.compile(
    r"[\W_]*(?:责任编辑|責任編輯|编辑[:：]|編輯[:：]|责编|值班编辑|本文编辑|本文来源|原标题|分享(?:到|至|给|按钮|此)|"
    r"分享$|扫一扫|扫码|扫描二维码|微信扫|长按|相关(?:阅读|新闻|报道|链接|推荐|文章|专题|热词|资讯|标签)|延伸閱讀|"
    r"推荐阅读|更多(?:精彩|新闻|内容|阅读|相关)|猜你喜欢|热门(?:推荐|新闻|文章|评论)|精彩推荐|点击(?:查看|进入|下载|排行|加载|阅读)|"
    r"上一[篇页頁条]|下一[篇页頁条]|返回(?:首页|顶部|列表|目录|搜狐)|我要(?:评论|留言|纠错|发言|举报)|网友评论|发表评论|"
    r"已有\d*人|查看全部评论|关注我们|关注微信|打印本页|打印$|关闭窗口|关闭本页|【?(?:打印|关闭|收藏|纠错|字号|大 中 小)|"
    r"当前位置|您(?:现在|当前)?(?:所在)?的?位置|您所在|首页$|登录|注册|用户名|验证码|免责声明|特别声明|郑重声明|声明[:：]|"
    r"版权声明|举报|阅读原文|展开全文|加载更多|查看更多|正在加载|请先登录|点赞|赞$|踩$|阅读(?:数|量)?[:：]?\s*\d+$|"
    r"浏览(?:次数|量)?[:：]?|访问量|评论\s*[(（\d]|标签[:：]|关键[词字][:：]|分类[:：]|来源[:：]|來源[:：]|稿源[:：]|"
    r"文章来源|作者[:：]|记者[:：]|发布(?:时间|日期|者)|发表(?:时间|于)|时间[:：]|日期[:：]|字体[:：]|字号|"
    r"(?:share|tweet|pin it|email|print|save|copy link|follow us|sign ?up|sign in|log ?in|subscribe|newsletter|"
    r"advertisement|advertising|sponsored|related(?: articles?| stories| posts| content| topics| news| reading)?|"
    r"read (?:more|next|also)|more (?:from|stories|news|on this)|most (?:read|popular|viewed)|trending|"
    r"recommended(?: for you| stories| reading)?|you (?:may|might) (?:also )?(?:like|be interested)|what to read next|"
    r"leave a (?:reply|comment)|post a comment|comments?|no comments|add a comment|join the (?:conversation|discussion)|"
    r"tags?|filed under|categories|category|previous(?: post| article)?|next(?: post| article)?|skip to|"
    r"table of contents|back to top|see also|privacy policy|terms of (?:use|service)|cookie|we use cookies|"
    r"your email address|all rights reserved|copyright|follow|menu|search|home|loading|close|image (?:credit|source)|"
    r"photo(?: credit)?|getty images|share this|share on|share via|click to share|like this|written by|posted (?:by|on|in)|"
    r"published|updated|last updated|by$|\d+ min(?:ute)?s?(?: read)?|\d+ (?:comments?|shares?|views?))\s*[:：>»…(]*\s*$)",
    re.I,
)
# Values meant for machines: addresses, time stamps, bare numbers with a time.
MACHINE = re.compile(r"https?://\S+|\d{4}-\d\d-\d\dT[\d:.+Z-]+|[{\[].*\":.*[}\]]")
# Beginnings of short English lines that are captions, credits, pointers and notices.
ENGLISH_LABEL = re.compile(
    r"\W*(?:(?:image|media|photo|picture|video) ?(?:caption|credit|source|:)|image \d+ of \d+|\(?(?:image|picture|photo)s?(?: credit)?:|"
    r"file photo|photo by|photograph by|(?:read|see|watch|learn) (?:more|next|also)\b|(?:also )?read\s*[:|]|related\s*[:|]|see also\b|"
    r"don['’]t miss|(?:first |last )?(?:published|updated|posted|modified)\b.{0,40}\d|reporting by |additional reporting|our standards:|"
    r"article content$|advert$|caption$|click here|sign up (?:for|to)|subscribe (?:to|now)|follow (?:us|me|@|our)|"
    r"like us on|join (?:us|our)\b|get (?:the|our) (?:latest|best|free)|this article (?:was|is) |this story (?:was|is) |"
    r"media playback is|sponsored\b|source:|sources?:|via:|by [A-Z][a-z]+ [A-Z][a-z]+$|share (?:this|on|with)|tags?:|topics?:|"
    r"copyright|author of the article|related (?:tags|topics|stories|articles|posts|links)|more (?:in|from|on|stories)\b|post comment|"
    r"\d+ (?:comments?|shares?|views|likes)|(?:ap|afp|reuters)$)",
    re.I,
)
# Headings behind which nothing of the article comes any more.
END_OF_ARTICLE = re.compile(
    r"[\W_]*(?:责任编辑|責任編輯|责编|相关(?:阅读|新闻|报道|链接|推荐|文章|专题|资讯)|延伸閱讀|推荐阅读|猜你喜欢|热门(?:推荐|新闻|文章|评论)|精彩推荐|"
    r"更多(?:精彩|新闻|相关)|网友评论|发表评论|最新评论|我要评论|"
    r"(?:related(?: articles?| stories| posts| content| news| reading)?|more (?:from|in|on|about|stories|news|articles|posts)\b.{0,40}|"
    r"most (?:read|popular|viewed)|recommended(?: for you| stories| reading| articles| posts)?|"
    r"you (?:may|might) (?:also )?(?:like|be interested in|enjoy)|what to read next|read next|up next|keep reading|"
    r"leave a (?:reply|comment)|post a comment|comments?(?: \(\d+\))?|\d+ (?:comments?|responses|replies|thoughts on)\b.{0,40}|"
    r"join the (?:conversation|discussion)|about the authors?|trending(?: now)?|latest (?:news|stories|posts|articles)|"
    r"sign up for .{0,60}|subscribe to .{0,60}|share this(?: \w+)?)\s*[:：>»…]*\s*$)",
    re.I,
)
META_LINE = re.compile(
    r"(?:19|20)\d\d\s*[-/.年]\s*\d{1,2}\s*[-/.月]\s*\d{1,2}|\d{1,2}:\d\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"[a-z]*\.? \d{1,2},? (?:19|20)\d\d|\b\d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* (?:19|20)\d\d|"
    r"来源|來源|作者|编辑|发布|阅读|浏览|评论|字号|\bby\b|min read|updated|published",
    re.I,
)


def is_copyright(text: str) -> bool:
    """The line is, or holds, a copyright or registration notice."""
    return COPYRIGHT.search(text[:500]) is not None


def is_template(text: str) -> bool:
    """The line is a label, a button or a notice of the site's template."""
    if ENGLISH_LABEL.match(text[:200]):
        return True
    return TEMPLATE.match(text[:200]) is not None or MACHINE.fullmatch(text[:300]) is not None


def ends_article(text: str) -> bool:
    """The line heads comments, related news or another part that follows articles."""
    return len(text) <= 80 and END_OF_ARTICLE.match(text) is not None


def is_meta_line(text: str) -> bool:
    """A short line that holds a date, a source, an author or a counter, as stands between title and text."""
    if len(text) > 90 or "。" in text or (len(text) > 40 and text.endswith((".", "!", "?", "！", "？"))):
        return False
    return META_LINE.search(text) is not None
