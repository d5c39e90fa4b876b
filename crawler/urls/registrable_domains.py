"""Registrable domains, by the public suffix list in the installed package. Fetches nothing."""

from functools import lru_cache
from ipaddress import ip_address

from publicsuffixlist import PublicSuffixList


@lru_cache(maxsize=65_536)
def registrable_domain(host: str) -> str:
    """Return the registrable domain of host[:port]: `example.com.cn` of `www.example.com.cn`.

    Returns "" for a public suffix and for invalid names. An IP address is its own domain.
    """
    name = host.strip("[]") if host.endswith("]") else host.rsplit(":", 1)[0] if ":" in host else host
    name = name.lower().removesuffix(".")
    try:
        return str(ip_address(name.strip("[]")))
    except ValueError:
        pass
    if not name or name.startswith(".") or ".." in name:
        return ""
    return _public_suffix_list().privatesuffix(name) or ""


def site_domain(host: str) -> str:
    """Return the registrable domain of host[:port]; the host itself if it has none."""
    return registrable_domain(host) or host


@lru_cache(maxsize=1)
def _public_suffix_list() -> PublicSuffixList:
    return PublicSuffixList()
