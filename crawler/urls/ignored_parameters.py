"""Remove URL parts that never change the page: tracking parameters and session ids.

A parameter is removed by its name (`utm_source`), or by name and value format (`PHPSESSID=` and 32 hex digits).
`crawler/dedup/dust.py` learns the redundant parameters of each site.
"""

import re

_TRACKING_PARAMETERS = """
    gclid gclsrc dclid gbraid wbraid fbclid msclkid yclid twclid ttclid igshid mc_cid mc_eid _ga _gl
    _hsenc _hsmi mkt_tok oly_anon_id oly_enc_id vero_id wickedid zanpid s_cid
    spm scm pvid bd_vid bd_source hmsr hmpl hmcu hmkw hmci share_token share_source
"""
_TRACKING_PREFIXES = "utm_ pk_ piwik_ mtm_ matomo_"
# Session ids: name of the parameter -> format of the value.
_SESSION_VALUE_BY_NAME = {
    "phpsessid": "[0-9a-zA-Z,-]{16,128}",
    "jsessionid": "[0-9A-Za-z.$!_-]{10,}",
    "sid": "[0-9a-fA-F]{15,}",
    "session_?id": "[0-9A-Za-z-]{16,}",
    "s": "[0-9a-fA-F]{32}",
    "cfid|cftoken": "[0-9a-fA-F-]+",
    "zenid|oscsid": "[0-9a-zA-Z]{26,}",
    "aspsessionid[a-z]{8}": "[0-9A-Za-z]+",
}
_IGNORED_PARAMETER = re.compile(
    "&(?:(?:{}|(?:{})[^=&]*)(?:=[^&]*)?|{})(?=&|\\Z)".format(
        "|".join(_TRACKING_PARAMETERS.split()),
        "|".join(_TRACKING_PREFIXES.split()),
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
