"""Shows the value of a cell with its number format, as a spreadsheet program displays it (ECMA-376 18.8.30).

    format_cell_value(0.035, "0.0%")   3.5%      format_cell_value(45413, 'yyyy"年"m"月"d"日"')   2024年5月1日
    format_cell_value(7, "000000")     000007    format_cell_value(-40, '0"℃"')                 -40℃

A date whose format depends on the reader's region is written as YYYY-MM-DD.
"""

import datetime
import re
from calendar import day_name, month_name
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import takewhile

from extractor.documents.office.counting import format_count

TOKEN_RE = re.compile(
    r'"[^"]*"?|[\\!].|[_*].|\[[^\]]*\]?|am/pm|a/p|上午/下午|general|g/通用格式|e[+-]0+|(?<=s)\.0+'
    r"|y+|e+|m+|d+|aaaa?|h+|s+|.",
    re.I | re.S,
)
DATE_TOKEN_RE = re.compile(r"y+|e+|m+|d+|aaaa?|h+|s+|\[(?:h+|m+|s+)\]", re.I)
HALF_DAY_TOKENS = {"am/pm": ("AM", "PM"), "a/p": ("A", "P"), "上午/下午": ("上午", "下午")}
CONDITION_RE = re.compile(r"\[(<=|>=|<>|<|>|=)(-?\d{1,20}(?:\.\d{0,20})?)\]")
CURRENCY_RE = re.compile(r"\[\$([^\]-]*)")
COMPARISONS = {"<": (-1,), ">": (1,), "=": (0,), "<=": (-1, 0), ">=": (0, 1), "<>": (-1, 1)}
COUNTING_SYSTEMS = {"[dbnum1]": "chineseCounting", "[dbnum2]": "chineseLegalSimplified"}
REGIONAL_FORMATS = {"[$-f800]": "yyyy-mm-dd", "[$-f400]": "h:mm:ss"}
GENERAL_TOKENS = ("general", "g/通用格式", "@")
PLACEHOLDERS = ("0", "#", "?")
SECONDS_BY_UNIT = {"h": 3600, "n": 60, "s": 1}
MIN_PLAIN, MAX_PLAIN = 1e-9, 1e21  # numbers between them are written without exponent
MIN_LARGE = 1e8
MAX_SERIAL = 2_958_466  # the day after 9999-12-31
MAX_CODE_CHARS = 255  # the limit of Excel
EXACT = Context(prec=600)  # digits of the largest number with the longest format
EPOCH = datetime.datetime(1899, 12, 30)
DAYS_TO_1904 = 1462
# Formats by their number, in a Chinese version of Excel.
MONTH, MONTH_DAY, CLOCK, CURRENCY, DECIMALS = 'yyyy"年"m"月"', 'm"月"d"日"', 'h"时"mm"分"', '"¥"#,##0', "#,##0.00"
BUILTIN_FORMATS = dict(enumerate((
    "", "0", "0.00", "#,##0", DECIMALS, CURRENCY, CURRENCY, f"{CURRENCY}.00", f"{CURRENCY}.00", "0%", "0.00%",
    "0.00E+00", "# ?/?", "# ??/??", "yyyy-mm-dd", "d-mmm-yy", "d-mmm", "mmm-yy", "h:mm AM/PM", "h:mm:ss AM/PM", "h:mm",
    "h:mm:ss", "yyyy-mm-dd h:mm", "", "", "", "", MONTH, MONTH_DAY, MONTH_DAY, "yyyy-mm-dd", f'{MONTH}d"日"', CLOCK,
    f'{CLOCK}ss"秒"', f"上午/下午{CLOCK}", f'上午/下午{CLOCK}ss"秒"', MONTH, "#,##0", "#,##0", DECIMALS, DECIMALS,
    "#,##0", CURRENCY, DECIMALS, f"{CURRENCY}.00", "mm:ss", "[h]:mm:ss", "mm:ss.0", "##0.0E+0", "@", MONTH, MONTH_DAY,
    MONTH, MONTH_DAY, MONTH_DAY, f"上午/下午{CLOCK}", f'上午/下午{CLOCK}ss"秒"', MONTH, MONTH_DAY,
)))  # fmt: skip


def format_cell_value(value: float | str, code: str, is_1904: bool = False) -> str:
    """Return a number, date (days since 1899-12-30, or 1904) or text as its format displays it; "" if it hides it."""
    sections = parse_format(code[:MAX_CODE_CHARS])
    if isinstance(value, str):
        text_section = sections[3] if len(sections) > 3 else sections[-1]
        tokens: Sequence[str] = text_section if "@" in text_section or len(sections) > 3 else ("@",)
        return "".join(value if piece == "@" else literal_text(piece) for piece in tokens)
    try:
        return format_number(*choose_section(sections, value), is_1904)
    except (ArithmeticError, ValueError):  # one cell must not lose the workbook
        return format_general(value)


def format_number(tokens: Sequence[str], value: float, is_1904: bool) -> str:
    """Return a number or date as one section of a format displays it."""
    system = next((COUNTING_SYSTEMS[token.lower()] for token in tokens if token.lower() in COUNTING_SYSTEMS), "")
    if any(map(DATE_TOKEN_RE.fullmatch, tokens)):
        return format_date(tokens, value, is_1904, system)
    if any(token in PLACEHOLDERS for token in tokens) and not (system and value.is_integer()):
        return format_digits(tokens, Decimal(f"{value:.15g}"))
    text = format_count(int(value), system) if system and value.is_integer() else format_general(value)
    return "".join(text if token.lower() in (*GENERAL_TOKENS, "0") else literal_text(token) for token in tokens)


@lru_cache(maxsize=1_000)
def parse_format(code: str) -> tuple[tuple[str, ...], ...]:
    """Split a format into its sections (positive, negative, zero, text), each as tokens."""
    code = next((pattern for mark, pattern in REGIONAL_FORMATS.items() if code.lower().startswith(mark)), code)
    sections = list[list[str]]([[]])
    for piece in TOKEN_RE.findall(code):
        if piece == ";":
            sections.append([])
        else:
            sections[-1].append(piece)
    return tuple(map(tuple, sections))


def choose_section(sections: tuple[tuple[str, ...], ...], value: float) -> tuple[tuple[str, ...], float]:
    """Return the section for a number, and the number, without its sign if the section replaces that."""
    conditions = [next(filter(None, map(CONDITION_RE.fullmatch, tokens)), None) for tokens in sections]
    for tokens, condition in zip(sections, conditions, strict=True):
        limit = float(condition[2]) if condition else 0.0
        if condition and (value > limit) - (value < limit) in COMPARISONS[condition[1]]:
            return tokens, value
    if any(conditions):
        return sections[conditions.index(None) if None in conditions else -1], value
    if value < 0 and len(sections) > 1:
        return sections[1], -value
    return sections[2] if len(sections) > 2 and value == 0 else sections[0], value


def literal_text(token: str) -> str:
    """Return the text that a token displays: text, a currency; none for a fill, colour or condition."""
    if token[0] in '"\\!':
        return token.strip('"') if token[0] == '"' else token[1:]
    currency = CURRENCY_RE.match(token)
    return currency[1] if currency else "" if token[0] in "[*_" else token


def format_general(value: float) -> str:
    """Return a number without a format: 10 significant digits, up to 15 for large and whole numbers."""
    if value and not MIN_PLAIN <= abs(value) < MAX_PLAIN:
        return f"{value:.6g}".upper()
    digits = 15 if value.is_integer() or abs(value) >= MIN_LARGE else 10
    return f"{Decimal(f'{value:.{digits}g}'):f}"


def format_digits(tokens: Sequence[str], value: Decimal) -> str:
    """Fill the digits of a number into the placeholders of a format, from right to left."""
    visible_indices = [index for index, token in enumerate(tokens) if token.strip()]
    for before, index, after in zip(visible_indices, visible_indices[1:], visible_indices[2:], strict=False):
        is_fraction = tokens[before] in PLACEHOLDERS and (tokens[after] in PLACEHOLDERS or tokens[after].isdecimal())
        if tokens[index] == "/" and is_fraction:
            return format_fraction(tokens[:index], tokens[index + 1 :], value)
    point = tokens.index(".") if "." in tokens else len(tokens)
    if not any(token in PLACEHOLDERS for token in tokens[:point]):
        tokens, point = [*tokens[:point], "#", *tokens[point:]], point + 1
    places = [index for index, token in enumerate(tokens) if token in PLACEHOLDERS]
    integer_places, decimals = [at for at in places if at < point], [at for at in places if at > point]
    ends = {integer_places[-1], places[-1]}
    trailing_commas = sum(1 for end in ends for _ in takewhile(",".__eq__, tokens[end + 1 :]))
    value = value.scaleb(2 * tokens.count("%") - 3 * trailing_commas)
    exponent = next((token for token in tokens if re.fullmatch(r"e[+-]0+", token, re.I)), "")
    power = value.adjusted() // len(integer_places) * len(integer_places) if exponent and value else 0
    step = Decimal(1).scaleb(-len(decimals))
    integer, _, fraction = f"{abs(value.scaleb(-power)).quantize(step, ROUND_HALF_UP, EXACT):f}".partition(".")
    sign = "-" if value < 0 and (integer + fraction).strip("0") else ""
    integer = integer.lstrip("0").rjust(sum(tokens[place] == "0" for place in integer_places), "0")
    unshown = [index for index, token in enumerate(tokens) if token in (*PLACEHOLDERS, ",")]
    digits = dict.fromkeys(unshown, "") | dict(zip(decimals, fraction, strict=True))
    for place in reversed(decimals):
        if tokens[place] == "0" or digits[place] != "0":
            break
        digits[place] = ""
    if "," in tokens[integer_places[0] : integer_places[-1]]:
        digits[integer_places[0]] = f"{int('1' + integer):,}"[1:].removeprefix(",")  # keeps the zeros of 00,005
    else:
        for place in reversed(integer_places[1:]):
            integer, digits[place] = integer[:-1], integer[-1:]
        digits[integer_places[0]] = integer
    if exponent:
        sign_of_power = "-" if power < 0 else "+" if "+" in exponent else ""
        digits[tokens.index(exponent)] = f"E{sign_of_power}{abs(power):0{len(exponent) - 2}}"
    if point < len(tokens) and not any(digits[place] for place in decimals):
        digits[point] = ""
    return sign + "".join(digits.get(index, literal_text(token)) for index, token in enumerate(tokens)).strip()


def format_fraction(upper: Sequence[str], lower_tokens: Sequence[str], value: Decimal) -> str:
    """Return a number as a fraction: `# ?/?`, `# ??/16`; `upper` are the tokens before the stroke."""
    lower = "".join(lower_tokens).strip()
    fixed = int(lower) if lower.isdecimal() and int(lower) and len(lower) < 6 else 0
    limit = 10 ** min(max(lower.count("?") + lower.count("#"), 1), 5) - 1
    fraction = Fraction(round(abs(value) * fixed), fixed) if fixed else Fraction(abs(value)).limit_denominator(limit)
    integer = int(fraction) if " " in "".join(upper).strip() else 0
    remainder = fraction - integer
    part = f"{remainder * fixed}/{fixed}" if fixed else f"{remainder.numerator}/{remainder.denominator}"
    return ("-" if value < 0 else "") + " ".join(filter(None, (str(integer or ""), part if remainder else ""))) or "0"


def format_date(tokens: Sequence[str], value: float, is_1904: bool, system: str) -> str:
    """Return a date or time. `m` are minutes beside hours or seconds. `system` is that of Chinese numerals, or ""."""
    seconds = round(value * 86_400, max((len(token) - 1 for token in tokens if token.startswith(".0")), default=0))
    if not 0 <= seconds < 86_400 * (MAX_SERIAL - DAYS_TO_1904 * is_1904):
        return format_general(value)
    # 1900 has a 29 February in Excel.
    moment = EPOCH + datetime.timedelta(DAYS_TO_1904 if is_1904 else int(1 <= value < 60), seconds)
    units = [token.lower().strip("[")[0] if DATE_TOKEN_RE.fullmatch(token) else "" for token in tokens]
    halves = next((names for token in tokens if (names := HALF_DAY_TOKENS.get(token.lower()))), None)
    texts, previous = list[str](), ""
    for index, (token, unit) in enumerate(zip(tokens, units, strict=True)):
        if unit == "m" and (previous == "h" or next(filter(None, units[index + 1 :]), "") == "s"):
            unit = "n"
        previous = unit or previous
        if token[0] == "[" and unit in SECONDS_BY_UNIT:
            texts.append(f"{int(seconds // SECONDS_BY_UNIT[unit]):0{len(token) - 2}}")
        elif unit:
            texts.append(format_date_part(moment, unit, len(token), halves is not None, system))
        elif halves and token.lower() in HALF_DAY_TOKENS:
            texts.append(halves[moment.hour >= 12])
        else:
            texts.append(f"{seconds % 1:.{len(token) - 1}f}"[1:] if token.startswith(".0") else literal_text(token))
    return "".join(texts).strip()


def format_date_part(moment: datetime.datetime, unit: str, width: int, has_half_days: bool, system: str) -> str:
    """Return year, month, day, weekday, hour, minute (`n`) or second of a date, in `width` letters of the format."""
    if unit in "ye":
        year = moment.year if width > 2 or unit == "e" else moment.year % 100
        return format_count(year, "ideographDigital") if system else f"{year:0{min(width, 4)}}"
    if unit == "a":
        return ("星期" if width == 4 else "") + "一二三四五六日"[moment.weekday()]
    if width > 2 and unit in "md":
        name = month_name[moment.month] if unit == "m" else day_name[moment.weekday()]
        return name[:3] if width == 3 else name[:1] if width == 5 else name
    hour = (moment.hour - 1) % 12 + 1 if has_half_days else moment.hour
    number = {"m": moment.month, "d": moment.day, "h": hour, "n": moment.minute, "s": moment.second}[unit]
    return format_count(number, system) if system else f"{number:0{width}}"
