"""Registrable domains, by the list of public suffixes that comes with the package: nothing is fetched."""

from functools import lru_cache
from ipaddress import ip_address

from publicsuffixlist import PublicSuffixList


def registrable_domain(host: str) -> str:
    """`example.com.cn` of `www.example.com.cn` (of host[:port]); "" of a public suffix, and of what is no name.

    An IP address stands for itself: it is nobody's subdomain.
    """
    name = host.strip("[]") if host.endswith("]") else host.rsplit(":", 1)[0] if ":" in host else host
    return _cached_domain(name.lower().removesuffix("."))


@lru_cache(maxsize=65_536)
def _cached_domain(name: str) -> str:
    try:
        return str(ip_address(name.strip("[]")))
    except ValueError:
        pass
    if not name or name.startswith(".") or ".." in name:
        return ""
    return _public_suffix_list().privatesuffix(name) or ""


@lru_cache(maxsize=1)
def _public_suffix_list() -> PublicSuffixList:
    return PublicSuffixList()
