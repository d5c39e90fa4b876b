"""Where a connection may go: the guard against requests to the inside (SSRF).

The policy is asked inside the connection, for every connection and so on every hop, and its answer is what is
connected to: between the check and the connection no second DNS answer can slip in (DNS rebinding).
"""

import re
import socket
from collections.abc import Callable, Collection
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Protocol

from docstore.errors import PlumblineError, SettingsError

Resolver = Callable[[str, int], list[str]]


class PrivateAddressError(PlumblineError):
    """The host is, or resolves to, an address that is not on the public internet."""


class IpPolicy(Protocol):
    """Says where to connect for a host."""

    def resolve_allowed(self, host: str, port: int) -> list[tuple[str, int]]:
        """IP addresses and ports to try in turn.

        Raises InsideAddressError if there is none that is allowed, OSError if the name does not resolve.
        """


@dataclass(frozen=True)
class AllowedPrivateHosts:
    """What of the inside the operator allows: `hosts` are host or host:port, `domains` stand for themselves and all
    hosts below them, `networks` for whatever host leads there."""

    hosts: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def from_settings(cls, texts: Collection[str]) -> "AllowedPrivateHosts":
        """From `crawl.inside_hosts`: `intra`, `intra:8080`, `[::1]:80`, `*.example.com`, `10.0.0.0/8`, `fd00::/8`.

        SettingsError for what is none of these.
        """
        names = {text.lower() for text in texts if _HOST_PATTERN.fullmatch(text)}
        domains = {text.lower().removeprefix("*.") for text in texts if _WILDCARD_PATTERN.fullmatch(text)}
        network_texts = [
            text for text in texts if not _HOST_PATTERN.fullmatch(text) and not _WILDCARD_PATTERN.fullmatch(text)
        ]
        return cls(frozenset(names), frozenset(domains), tuple(_parse_network(text) for text in network_texts))

    def allows_host(self, host: str, port: int | str) -> bool:
        """Is the host (an IPv6 address without its brackets) named, by itself or by its domain?"""
        bracketed_host = f"[{host}]" if ":" in host else host
        parent_domains = [bracketed_host]
        while "." in parent_domains[-1] and not bracketed_host.startswith("["):
            parent_domains.append(parent_domains[-1].partition(".")[2])
        host_forms = {form for name in parent_domains for form in (name, f"{name}:{port}")}
        return not self.hosts.isdisjoint({bracketed_host, f"{bracketed_host}:{port}"}) or not self.domains.isdisjoint(
            host_forms
        )

    def allows_ip(self, ip: str) -> bool:
        """Does the IP address lie in a network that is named?"""
        try:
            return any(ip_address(ip) in network for network in self.networks)
        except ValueError:
            return False


_HOST_PATTERN = re.compile(r"(?:[\w.-]+|\[[0-9a-fA-F:.]+\])(?::[0-9]+)?")
_WILDCARD_PATTERN = re.compile(r"\*\.[\w.-]+(?::[0-9]+)?")


def _parse_network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        raise SettingsError(
            f"crawl.inside_hosts: {text[:200]!r} is neither a host as intra.example.com or intra:8080, nor a domain as "
            "*.example.com, nor a network as 10.0.0.0/8"
        ) from None


class PublicOnlyPolicy:
    """Public addresses only, except for those of `inside_hosts` (see `AllowedPrivateHosts`), which the operator named."""

    def __init__(self, inside_hosts: Collection[str] = (), resolve: Resolver | None = None) -> None:
        self._allowed_private = AllowedPrivateHosts.from_settings(inside_hosts)
        self._resolve = resolve or resolve_by_dns

    def resolve_allowed(self, host: str, port: int) -> list[tuple[str, int]]:
        """The resolved addresses, all of them public or allowed."""
        name = host.lower().strip("[]").removesuffix(".")
        ips = self._resolve_host(name, port)
        if not self._allowed_private.allows_host(name, port):
            private_ips = [
                address for address in ips if not is_public_ip(address) and not self._allowed_private.allows_ip(address)
            ]
            if private_ips or not ips:
                raise PrivateAddressError(
                    f"{host} is on a private or reserved network ({', '.join(private_ips)}): if it is yours, name it, its "
                    "domain or its network in crawl.inside_hosts"
                )
        return [(address, port) for address in ips]

    def _resolve_host(self, name: str, port: int) -> list[str]:
        # RFC 6761: names below localhost are loopback, and no DNS server is asked about them.
        if name == "localhost" or name.endswith(".localhost"):
            return ["127.0.0.1"]
        return self._resolve(name, port)


class UnrestrictedPolicy:
    """Wherever the name leads: for a proxy, which the operator has named."""

    def resolve_allowed(self, host: str, port: int) -> list[tuple[str, int]]:
        """All addresses of the host."""
        return [(address, port) for address in resolve_by_dns(host.strip("[]"), port)]


def resolve_by_dns(host: str, port: int) -> list[str]:
    """All addresses of a host, in the system's order. Raises OSError (socket.gaierror) if there are none."""
    try:
        address_infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise OSError(f"{host!r} is not a host name") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in address_infos))


# What `is_global` of some Python releases still lets through.
_RESERVED_V4 = tuple(
    IPv4Network(text)
    for text in ("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "240.0.0.0/4")
)
_RESERVED_V6 = tuple(
    IPv6Network(text)
    for text in (
        *("::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16"),
        *("fc00::/7", "fe80::/10", "fec0::/10"),
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")


def is_public_ip(text: str) -> bool:
    """Is this IP address on the public internet? False for anything that is not an IP address."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        return _is_public_v6(address)
    return _is_public_v4(address)


def _is_public_v4(ip: IPv4Address) -> bool:
    return ip.is_global and not ip.is_multicast and not any(ip in net for net in _RESERVED_V4)


def _is_public_v6(ip: IPv6Address) -> bool:
    """An IPv6 address that carries an IPv4 address is judged by that one."""
    embedded_ipv4 = ip.ipv4_mapped or ip.sixtofour
    if embedded_ipv4 is None and ip in _NAT64:
        embedded_ipv4 = IPv4Address(int(ip) & 0xFFFFFFFF)
    if embedded_ipv4 is not None:
        return _is_public_v4(embedded_ipv4)
    if ip.scope_id is not None or ip.is_multicast:
        return False
    return ip.is_global and not any(ip in net for net in _RESERVED_V6)
