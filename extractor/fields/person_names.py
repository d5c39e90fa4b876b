"""Splits texts into names of people and media; removes labels and roles, and rejects texts that are not names."""

import html
import re

from text.scripts import HAN

MAX_NAME_CHARS = 60
MAX_NAME_WORDS = 7
# Labels that may follow a name on the same line.
LABEL_PATTERN = (
    "(?:作者|记者|記者|来源|來源|责任编辑|責任編輯|责编|编辑|編輯|发布|發布|时间|時間|日期|点击|阅读|浏览|评论|字号|"
    "校对|审核|摄影|标签|分享|我来说|我要)"
)
NON_NAME_PATTERN = "(?:整合|整理|编译|综合|报道)"
HAN_NAME_PATTERN = rf"[{HAN}]{{2,4}}(?:·[{HAN}]{{1,8}}){{0,3}}"
CAPITALIZED_WORD_PATTERN = r"[A-Z\u00c0-\u024f][\w.'’-]{0,24}"
LATIN_NAME_PATTERN = (
    rf"{CAPITALIZED_WORD_PATTERN}(?: (?:(?:de|van|von|der|den|da|la|le|du|bin|al) )?{CAPITALIZED_WORD_PATTERN}){{0,4}}"
)
PEN_NAME_PATTERN = r"[\w·_.-]{2,20}"
NAME_SEPARATOR_PATTERN = r"\s?[、,，&/]\s?|\s(?:和|与)\s|\s{1,2}"
HAN_NAMES_RE = re.compile(rf"{HAN_NAME_PATTERN}(?:\s{HAN_NAME_PATTERN}){{1,5}}")
NAME_SEPARATOR_RE = re.compile(
    rf"\s?[;；、|／]\s?|,\s(?=[A-Z])|,(?=[A-Z{HAN}])|，|(?<=[{HAN}])&|\s(?:and|&|und|et|y|e)\s"
)
DATE_OR_TIME_RE = re.compile(
    r"(?:19|20)\d\d\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}\s?日?|\d{1,2}[:：]\d\d(?:[:：]\d\d)?"
)
MEDIA_NAME_RE = re.compile(
    f"[{HAN}A-Za-z]{{1,12}}(?:网|網|报|報|报道|社|电视台|广播|新闻|新聞|消息|周刊|週刊|杂志|雜誌|在线|快讯|"
    "快訊|客户端|通讯|综合|中文站)"
)
NON_NAMES = frozenset(
    (
        "admin", "administrator", "root", "webmaster", "editor", "editors", "staff", "name", "author", "unknown",
        "none", "by", "null", "anonymous", "user", "guest", "team", "the team", "test", "佚名", "未知", "不详", "本站",
        "原创", "本站原创", "网络", "互联网", "網路", "網絡", "转载", "转载文章", "本网", "综合", "其他", "其它",
        "网站", "管理员", "匿名", "小编", "编辑", "作者", "记者", "责任编辑", "最新文章", "专栏", "个人", "网友",
        "整理", "整合", "来源", "发布", "网络转载", "系统管理员",
    )
)  # fmt: skip
NOT_NAME_RE = re.compile(
    r"https?:|www\.|@|[。！？!?{}<>=\"]|\.(?:com|net|org|cn)\b|版权|copyright|^\W*$|^[\d\W]+$|\d\s?[篇次条]|"
    "责任|编辑|点击|阅读|发布",
    re.I,
)
WRITTEN_BY_RE = re.compile(r"^.{0,60}\b(?:written|posted|reported) by\s")
BYLINE_PREFIX_RE = re.compile(
    r"^(?:(?:written |posted |reported )?by|von|par|por|di|作者|文|记者)\s?[:：/]?\s+|"
    rf"^(?:作者|文|记者|記者)\s?[:：/]\s?|^(?:本报)?(?:记者|記者)(?=[{HAN}]{{2,4}}$)",
    re.I,
)
EDITOR_LABEL_RE = re.compile(r"\s?[\[【(（]?(?:责任|責任|本文|网络)?(?:编辑|編輯|责编)")
ROLE_SUFFIX_RE = re.compile(
    r"\s?[|(（,–—-]\s?(?:[\w ]{0,40}\b(?:editor|writer|reporter|correspondent|staff|contributor)\b|摄|文|图|编).*$",
    re.I,
)
TRAILING_ROLE_RE = re.compile(
    r"\s(?:senior |staff |contributing |associate )*(?:writer|reporter|correspondent|editor|contributor)s?$", re.I
)
JOB_TITLE_RE = re.compile(
    r"\b(?:of|for|at|manager|director|officer|founder|developer|engineer|professor|team lead)\b|^(?:phd|md|ceo)$", re.I
)
NON_ALNUM_RE = re.compile(r"[\W_]+")
UNCLOSED_PARENTHESIS_RE = re.compile(r"\s?[(（][^)）]*$")
NAME_STRIP_CHARS = " .,;:：|/-—–()（）[]【】·•\"“”'\u200b"
SOURCE_SUFFIX_RE = re.compile(rf"\s?{LABEL_PATTERN}|参与互动|\s{{2,}}|[|｜]")


def split_names(text: str, site_names: frozenset[str]) -> list[str]:
    """Return the names in a text without roles; texts that are URLs, sentences or names of the site are removed."""
    text = WRITTEN_BY_RE.sub("", html.unescape(" ".join(text[:500].split())))
    text = DATE_OR_TIME_RE.split(BYLINE_PREFIX_RE.sub("", text), maxsplit=1)[0]
    text = EDITOR_LABEL_RE.split(text, maxsplit=1)[0].strip()
    parts = NAME_SEPARATOR_RE.split(text)
    if len(parts) == 1 and HAN_NAMES_RE.fullmatch(text):
        parts = text.split()
    names = [name for part in parts if may_be_person_name(name := strip_role(part), site_names)]
    names = [name for name in names if not JOB_TITLE_RE.search(name)] or names[:1]
    return [name for name in names if not MEDIA_NAME_RE.fullmatch(name)] or names


def strip_role(text: str) -> str:
    """Remove "By" before a name and the role after it."""
    name = UNCLOSED_PARENTHESIS_RE.sub(
        "", TRAILING_ROLE_RE.sub("", ROLE_SUFFIX_RE.sub("", BYLINE_PREFIX_RE.sub("", text)))
    )
    return name.strip(NAME_STRIP_CHARS)


def may_be_person_name(name: str, site_names: frozenset[str]) -> bool:
    """Return whether a text may be the name of a person, a group or a company."""
    folded_name = name.casefold()
    if (
        not 2 <= len(name) <= MAX_NAME_CHARS
        or folded_name in NON_NAMES
        or NOT_NAME_RE.search(name)
        or len(name.split()) > MAX_NAME_WORDS
    ):
        return False
    return not matches_site_name(name, site_names)


def matches_site_name(name: str, site_names: frozenset[str]) -> bool:
    """Return whether a name equals a name of the site, or one begins with the other: 网易 and 网易新闻."""
    normalized = normalize_name(name)
    return any(normalized.startswith(other) or other.startswith(normalized) for other in site_names)


def normalize_name(name: str) -> str:
    """Return the letters and digits of a name, case-folded."""
    return NON_ALNUM_RE.sub("", name.casefold())


def clean_source(text: str) -> str:
    """Return the name of a source without the labels after it, or an empty string if it is not a name."""
    text = SOURCE_SUFFIX_RE.split(DATE_OR_TIME_RE.sub(" ", text).strip(), maxsplit=1)[0].strip(NAME_STRIP_CHARS)
    if not 2 <= len(text) <= MAX_NAME_CHARS or text.casefold() in NON_NAMES or NOT_NAME_RE.search(text):
        return ""
    return text
