r"""Writes formulas as one line of text: H2S, Q=kΔP/μL, x^(n+1), √(a+b).

Reads the formulas of Office (OMML) and MathML as elements, and the EQ fields of Word (`EQ \f(a,b)`), which also hold
phonetic guides.
"""

import re

from lxml import etree
from lxml.etree import _Element as Element

SIMPLE_OPERAND_RE = re.compile(r"[\w.,′°%]*")
UNREAD_TAGS = frozenset(("annotation", "annotation-xml", "mphantom"))
EQ_TOKEN_RE = re.compile(
    r'\\\*\s*(?:"[^"]*"|\S+)|\\(?P<switch>[a-z]+)\s*\d*\s*|\\(?P<char>.)|(?P<text>[^\\(),;]+|.)', re.I | re.S
)
MAX_EQ_DEPTH = 50
MAX_EQ_CHARS = 10_000


def formula_text(element: Element) -> str:
    """Return the text of an element of OMML or MathML. The children of both follow each other in the same order."""
    children = [child for child in element if isinstance(child.tag, str)]
    name = etree.QName(element).localname
    settings = {
        etree.QName(setting).localname: str(next(iter(setting.attrib.values()), "1"))
        for properties in children
        if etree.QName(properties).localname == f"{name}Pr"
        for setting in properties
    }
    parts = [formula_text(child) for child in children if not etree.QName(child).localname.endswith("Pr")]
    if name in UNREAD_TAGS or settings.get("show") in ("0", "off", "false"):
        return ""
    if not children:
        return (element.text or "").strip() if name.startswith("m") else element.text or ""
    if name in ("d", "mfenced"):
        settings = {"begChr": element.get("open", "("), "endChr": element.get("close", ")")} | settings
        return settings["begChr"] + settings.get("sepChr", ",").join(parts) + settings["endChr"]
    if settings.get("type") == "noBar" or element.get("linethickness", "").rstrip("emptx%") == "0":  # a binomial
        name = "m"
    if name in ("m", "eqArr", "mtable", "mr", "mtr"):
        return (", " if name in ("mr", "mtr") else "; ").join(parts)
    if name in ("nary", "mroot") and len(parts) > 1:
        parts = [settings.get("chr", "∫"), *parts] if name == "nary" else parts[::-1]
    return combine(name, parts)


def combine(name: str, parts: list[str]) -> str:
    """Join the parts of a fraction, a root or an expression with scripts; other parts follow each other."""
    first, second, third = [*parts, "", "", ""][:3]
    match name:
        case "f" | "mfrac":
            return f"{operand(first)}/{operand(second)}"
        case "sSup" | "msup":
            return first + script("^", second)
        case "sSubSup" | "msubsup":
            return first + second + script("^", third)
        case "sPre":
            return script("^", second) + script("_", first) + third
        case "limLow" | "munder" | "nary" | "munderover":
            return first + script("_", second) + script("^", third) + "".join(parts[3:])
        case "limUpp" | "mover":
            return first + (script("^", second) if second.isalnum() else "")
        case "rad" | "mroot" | "msqrt":
            degree, radicand = (first, second) if name != "msqrt" else ("", "".join(parts))
            return f"{degree}√{operand(radicand)}"
        case "func":
            return f"{first} {second}"
    return "".join(parts)


def operand(text: str) -> str:
    """Return an operand, in parentheses if it is an expression."""
    return text if SIMPLE_OPERAND_RE.fullmatch(text) else f"({text})"


def script(sign: str, text: str) -> str:
    """Return a superscript or subscript; nothing for an empty one."""
    return sign + operand(text) if text else ""


def eq_field_text(instruction: str) -> str:
    """Return the text of an EQ field; an empty string for other fields. Of overlaid texts, the last one is the base."""
    if instruction.split()[:1] not in (["EQ"], ["eq"], ["Eq"]):
        return ""
    frames, switches = [("", [""])], ""
    for token in EQ_TOKEN_RE.finditer(instruction.strip()[2:MAX_EQ_CHARS]):
        text = token["text"]
        if token["switch"]:
            switches += token["switch"].lower()
        elif text == "(" and len(frames) < MAX_EQ_DEPTH:
            frames.append((switches, [""]))
            switches = ""
        elif text == ")" and len(frames) > 1:
            kind, parts = frames.pop()
            frames[-1][1][-1] += eq_part(kind, parts)
        elif text in (",", ";") and len(frames) > 1:
            frames[-1][1].append("")
        else:
            frames[-1][1][-1] += token["char"] or (text if text and not (switches and text.isspace()) else "")
    return "".join("".join(parts) for _, parts in frames).strip()


def eq_part(switches: str, parts: list[str]) -> str:
    """Return the text of one function of an EQ field. `switches` are its letters without backslashes."""
    match switches[:1]:
        case "f":
            return combine("f", parts)
        case "r":
            return combine("rad", parts if len(parts) > 1 else ["", *parts])
        case "o":
            return parts[-1]
        case "s":
            return script("^", parts[0]) if "up" in switches else parts[0]
        case "":
            return f"({','.join(parts)})"
    return ", ".join(filter(None, parts))
