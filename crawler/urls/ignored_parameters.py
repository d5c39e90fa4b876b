"""Remove URL parts that never change the page: tracking parameters and session ids of known programs.

A parameter is removed by its name (`utm_source`), or by name and value format (`PHPSESSID=` and 32 hex digits). Names
that sites also use for content (`sid`, `session_id`, `ref`) are not here: `crawler/dedup/dust.py` learns the redundant
parameters of each site from its pages.
"""

import re

_TRACKING_PARAMETERS = """
    gclid gclsrc dclid gbraid wbraid fbclid msclkid yclid twclid ttclid igshid mc_cid mc_eid _ga _gl
    _hsenc _hsmi mkt_tok oly_anon_id oly_enc_id vero_id wickedid zanpid s_cid
    spm bd_vid bd_source hmsr hmpl hmcu hmkw hmci share_token share_source
    utm_[a-z_]+ (?:pk|piwik|mtm|matomo)_(?:campaign|cid|content|group|keyword|kwd|medium|placement|source)
"""
# Session ids with names of one program: name of the parameter -> format of the value, which is never a number.
_SESSION_VALUE_BY_NAME = {
    "phpsessid": "(?=[0-9,-]*[a-zA-Z])[0-9a-zA-Z,-]{16,128}",
    "jsessionid": "(?=[0-9.$!_-]*[a-zA-Z])[0-9A-Za-z.$!_-]{10,}",
    "zenid|oscsid": "(?=[0-9]*[a-zA-Z])[0-9a-zA-Z]{26,}",
    "aspsessionid[a-z]{8}": "[0-9A-Za-z]+",
}
_IGNORED_PARAMETER = re.compile(
    "&(?:(?:{})(?:=[^&]*)?|{})(?=&|\\Z)".format(
        "|".join(_TRACKING_PARAMETERS.split()),
        "|".join(f"(?:{name})=(?:{value})" for name, value in _SESSION_VALUE_BY_NAME.items()),
    ),
    re.IGNORECASE,
)
# `/(S(4hqa0555fwsecu455xqckv45))/`, `/(4hqa0555fwsecu455xqckv45)/` of ASP.NET; `;jsessionid=...` of Java
_SESSION_IN_PATH = re.compile(
    r"/\((?:[a-z]\([0-9a-z]{24}\))+\)(?=/)|/\([0-9a-z]{24}\)(?=/)|;jsessionid=[^/?;]*", re.IGNORECASE
)


def strip_ignored_parameters(query: str) -> str:
    """Remove the ignored parameters from a query. The rest is unchanged."""
    return _IGNORED_PARAMETER.sub("", "&" + query)[1:]


def strip_session_ids(path: str) -> str:
    """Remove all session ids from a path, adjacent ones included."""
    while ("(" in path or ";" in path) and (stripped_path := _SESSION_IN_PATH.sub("", path)) != path:
        path = stripped_path
    return path


def remove_parameters(query: str, names: frozenset[str]) -> str:
    """Remove the parameters with these names from a query."""
    return "&".join(part for part in query.split("&") if part.partition("=")[0] not in names)
