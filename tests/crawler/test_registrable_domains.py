"""Registrable domains."""

import pytest

from crawler.urls.registrable_domains import registrable_domain


@pytest.mark.parametrize(
    ("host", "want"),
    [
        ("www.news.example.com.cn", "example.com.cn"),
        ("WWW.Example.COM.:8080", "example.com"),
        ("com.cn", ""),
        ("", ""),
        ("a..b.com", ""),
        ("localhost", ""),
        ("192.0.2.7:80", "192.0.2.7"),
        ("[2001:db8::1]:80", "2001:db8::1"),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("someone.github.io", "someone.github.io"),
    ],
)
def test_registrable_domain(host: str, want: str) -> None:
    assert registrable_domain(host) == want
