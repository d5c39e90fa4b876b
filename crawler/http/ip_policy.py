"""Restrict connections to allowed IP addresses, against server-side request forgery (SSRF).

Each connection resolves its host through the policy and connects to the returned IP address. No second DNS response can
replace it between check and connection (DNS rebinding).
"""

import re
import socket
from collections.abc import Callable, Collection
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Protocol

from domain.errors import PlumblineError, SettingsError

Resolver = Callable[[str, int], list[str]]


class PrivateAddressError(PlumblineError):
    """The host is, or resolves to, an IP address that is not on the public internet."""


class IpPolicy(Protocol):
    """Resolves a host to allowed IP addresses."""

    def resolve_allowed(self, host: str, port: int) -> list[tuple[str, int]]:
        """Return the IP addresses and ports to try, in order.

        Raises PrivateAddressError if no address is allowed, OSError if the name does not resolve.
        """


@dataclass(frozen=True)
class AllowedPrivateHosts:
    """Hosts on private networks that the administrator allows.

    Attributes:
        hosts: host or host:port.
        domains: each with all its subdomains.
        networks: allowed for every host name.
    """

    hosts: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def from_settings(cls, texts: Collection[str]) -> "AllowedPrivateHosts":
        """Parse `crawl.inside_hosts`: `intra`, `intra:8080`, `[::1]:80`, `*.example.com`, `10.0.0.0/8`, `fd00::/8`.

        Raises SettingsError for other text.
        """
        names = {text.lower() for text in texts if _HOST_PATTERN.fullmatch(text)}
        domains = {text.lower().removeprefix("*.") for text in texts if _WILDCARD_PATTERN.fullmatch(text)}
        network_texts = [
            text for text in texts if not _HOST_PATTERN.fullmatch(text) and not _WILDCARD_PATTERN.fullmatch(text)
        ]
        return cls(frozenset(names), frozenset(domains), tuple(_parse_network(text) for text in network_texts))

    def allows_host(self, host: str, port: int | str) -> bool:
        """True if the host (an IPv6 address without brackets) or its domain is listed."""
        bracketed_host = f"[{host}]" if ":" in host else host
        parent_domains = [bracketed_host]
        while "." in parent_domains[-1] and not bracketed_host.startswith("["):
            parent_domains.append(parent_domains[-1].partition(".")[2])
        host_forms = {form for name in parent_domains for form in (name, f"{name}:{port}")}
        return not self.hosts.isdisjoint({bracketed_host, f"{bracketed_host}:{port}"}) or not self.domains.isdisjoint(
            host_forms
        )

    def allows_ip(self, ip: str) -> bool:
        """True if the IP address is in an allowed network."""
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
        value = repr(text[:200])
        raise SettingsError(
            "{path}: {value} is neither a host, e.g. intra.example.com or intra:8080, nor a "
            "domain, e.g. *.example.com, nor a network, e.g. 10.0.0.0/8",
            path="crawl.inside_hosts",
            value=value,
        ) from None


class PublicOnlyPolicy:
    """Allows public IP addresses, and private ones only for `inside_hosts` (see `AllowedPrivateHosts`)."""

    def __init__(self, inside_hosts: Collection[str] = (), resolve: Resolver | None = None) -> None:
        self._allowed_private = AllowedPrivateHosts.from_settings(inside_hosts)
        self._resolve = resolve or resolve_by_dns

    def resolve_allowed(self, host: str, port: int) -> list[tuple[str, int]]:
        """Return the resolved IP addresses, all of them public or allowed."""
        name = host.lower().strip("[]").removesuffix(".")
        # RFC 6761: names below localhost are loopback and need no DNS request.
        is_loopback = name == "localhost" or name.endswith(".localhost")
        ips = ["127.0.0.1"] if is_loopback else self._resolve(name, port)
        if not self._allowed_private.allows_host(name, port):
            private_ips = [ip for ip in ips if not is_public_ip(ip) and not self._allowed_private.allows_ip(ip)]
            if private_ips or not ips:
                raise PrivateAddressError(
                    "{host} resolves to a private or reserved IP address ({ips}). To allow it, add the host, domain "
                    "or network to crawl.inside_hosts.",
                    host=host,
                    ips=tuple(private_ips),
                )
        return [(ip, port) for ip in ips]


class UnrestrictedPolicy:
    """Allows every IP address. Used for a proxy, which the administrator configured."""

    def resolve_allowed(self, host: str, port: int) -> list[tuple[str, int]]:
        return [(ip, port) for ip in resolve_by_dns(host.strip("[]"), port)]


def resolve_by_dns(host: str, port: int) -> list[str]:
    """Resolve a host to all its IP addresses, in the system's order.

    Raises OSError (socket.gaierror) without a result.
    """
    try:
        address_infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise OSError(f"{host!r} is not a host name") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in address_infos))


# Networks that `is_global` of some Python releases accepts.
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
    """True if the IP address is on the public internet. False for any other text."""
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
    """Check an IPv6 address. An embedded IPv4 address decides."""
    embedded_ipv4 = ip.ipv4_mapped or ip.sixtofour
    if embedded_ipv4 is None and ip in _NAT64:
        embedded_ipv4 = IPv4Address(int(ip) & 0xFFFFFFFF)
    if embedded_ipv4 is not None:
        return _is_public_v4(embedded_ipv4)
    if ip.scope_id is not None or ip.is_multicast:
        return False
    return ip.is_global and not any(ip in net for net in _RESERVED_V6)
