"""No connection to the inside unless the operator named the host."""

import contextlib
import json
import socket
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from crawler.http.ip_policy import PrivateAddressError, PublicOnlyPolicy, is_public_ip, resolve_by_dns
from crawler.urls.canonical import canonicalize_url, host_of
from domain.errors import SettingsError
from domain.outcome import Reason

HOSTILE = Path(__file__).resolve().parents[3] / "shared" / "data" / "hostile"

PUBLIC = ["8.8.8.8", "203.119.24.1", "2400:3200::1", "64:ff9b::808:808", "2002:808:808::1", "::ffff:8.8.8.8"]
INSIDE = [
    "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "192.0.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.88.99.1",
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "fc00::1", "fd00:ec2::254", "fe80::1",
    "fe80::1%eth0", "fec0::1", "ff02::1", "2002:7f00:1::", "64:ff9b::7f00:1", "64:ff9b:1::1", "2001:db8::1",
    "2001::1", "not an address", "",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_public(address: str) -> None:
    assert is_public_ip(address)


@pytest.mark.parametrize("address", INSIDE)
def test_inside(address: str) -> None:
    assert not is_public_ip(address)


def resolver(*addresses: str) -> object:
    return lambda host, port: list(addresses)


def test_connects_to_exactly_what_was_resolved() -> None:
    policy = PublicOnlyPolicy(resolve=resolver("8.8.8.8", "2400:3200::1"))  # type: ignore[arg-type]
    assert policy.resolve_allowed("site.test", 80) == [("8.8.8.8", 80), ("2400:3200::1", 80)]


@pytest.mark.parametrize("answers", [("10.0.0.1",), ("8.8.8.8", "127.0.0.1"), ()], ids=["inside", "mixed", "none"])
def test_a_name_that_leads_inside_is_refused(answers: tuple[str, ...]) -> None:
    with pytest.raises(PrivateAddressError, match=r"site\.test"):
        PublicOnlyPolicy(resolve=resolver(*answers)).resolve_allowed("site.test", 80)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("inside", "host", "port", "allowed"),
    [
        ("intra.test", "INTRA.test.", 80, True),
        ("intra.test:8080", "intra.test", 8080, True),
        ("intra.test:8080", "intra.test", 80, False),
        ("[::1]:80", "::1", 80, True),
        ("other.test", "intra.test", 80, False),
        ("*.example.com", "a.b.Example.com", 80, True),
        ("*.example.com", "example.com", 8080, True),
        ("*.example.com", "notexample.com", 80, False),
        ("*.example.com:8080", "a.example.com", 8080, True),
        ("*.example.com:8080", "a.example.com", 80, False),
        ("127.0.0.0/8", "anything.test", 80, True),
        ("127.9.9.9/8", "anything.test", 80, True),
        ("10.0.0.0/8", "anything.test", 80, False),
        ("fd00::/8", "anything.test", 80, False),
    ],
)
def test_hosts_the_operator_named(inside: str, host: str, port: int, allowed: bool) -> None:
    policy = PublicOnlyPolicy((inside,), resolve=resolver("127.0.0.1"))  # type: ignore[arg-type]
    if allowed:
        assert policy.resolve_allowed(host, port) == [("127.0.0.1", port)]
    else:
        with pytest.raises(PrivateAddressError):
            policy.resolve_allowed(host, port)


@pytest.mark.parametrize(
    ("answers", "allowed"), [(("fd00::7",), True), (("fd00::7", "8.8.8.8"), True), (("fd00::7", "10.0.0.1"), False)]
)
def test_every_address_of_a_host_must_be_public_or_in_a_named_network(answers: tuple[str, ...], allowed: bool) -> None:
    policy = PublicOnlyPolicy(("fd00::/8",), resolve=resolver(*answers))  # type: ignore[arg-type]
    if allowed:
        assert [target for target, _ in policy.resolve_allowed("intra.test", 80)] == list(answers)
    else:
        with pytest.raises(PrivateAddressError, match=r"\(10\.0\.0\.1\).*crawl\.inside_hosts"):
            policy.resolve_allowed("intra.test", 80)


@pytest.mark.parametrize("text", ["10.0.0.0/99", "http://intra.test/", "*", "a b", "intra.test/path", ""])
def test_what_names_nothing_inside_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match=r"crawl\.inside_hosts"):
        PublicOnlyPolicy((text,))


def test_localhost_names_are_loopback_without_dns_and_need_to_be_named() -> None:
    def no_dns(host: str, port: int) -> list[str]:
        pytest.fail("asked DNS about a localhost name")

    assert PublicOnlyPolicy(("a.localhost",), no_dns).resolve_allowed("a.localhost", 80) == [("127.0.0.1", 80)]
    with pytest.raises(PrivateAddressError):
        PublicOnlyPolicy((), no_dns).resolve_allowed("b.localhost", 80)


def test_a_name_that_does_not_resolve_is_an_oserror() -> None:
    with pytest.raises(OSError, match=r".+"):
        resolve_by_dns("a" * 70 + ".invalid", 80)


WAYS_INSIDE = (
    *("http://127.0.0.1/", "http://0177.1/", "http://[::ffff:10.0.0.1]/", "http://2130706433/", "http://localhost./"),
    *("http://[64:ff9b::7f00:1]/", "http://169.254.169.254/", "http://0x7f.1/", "http://[fd00::1]/", "http://10.1/"),
)


def test_hostile_rows_never_reach_the_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both as we make addresses canonical and as a careless client would read them."""
    numeric = socket.getaddrinfo

    def no_dns(host: str, port: int, **options: object) -> object:
        try:
            return numeric(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        except socket.gaierror:
            inside = host.rstrip(".").lower() in ("localhost", "ip6-localhost", "metadata.internal.test", "rebind.test")
            return [(0, 0, 0, "", ("10.0.0.1" if inside else "8.8.8.8", port))]

    monkeypatch.setattr(socket, "getaddrinfo", no_dns)
    policy = PublicOnlyPolicy()
    files = [HOSTILE / "urls_ssrf.jsonl", HOSTILE / "urls_redirect.jsonl"]
    rows = [
        json.loads(line)["text"] for file in files if file.exists() for line in file.read_text("utf-8").splitlines()
    ]
    for text in (*WAYS_INSIDE, *rows):
        url = canonicalize_url(text, "http://site.test/a")
        hosts = [] if isinstance(url, Reason) else [host_of(url).rpartition(":")[0] or host_of(url), host_of(url)]
        with contextlib.suppress(ValueError):
            hosts.append(urlsplit(urljoin("http://site.test/a", text)).hostname or "")
        for host in hosts:
            try:
                targets = policy.resolve_allowed(host, 80)
            except (PrivateAddressError, OSError):
                continue
            assert all(is_public_ip(address) for address, _ in targets), text
