"""Forms of logins, headers of HTTP authentication, and links that end sessions: pure decisions."""

import pytest

from crawler.http.http_auth import digest_header, parse_challenges
from crawler.http.login_form import fill_in, parse_html_page, shows_login
from crawler.urls.logout_links import is_logout_anchor, is_logout_url
from domain.login import Login, LoginKind

LOGIN = Login(LoginKind.FORM, "ann", "https://a.example/member/login.php")
FORM = """<base href="/member/"><form action="search"><input name="q"></form>
<form action="register" method="post"><input name="u"><input type="password" name="a"><input type="password" name="b">
</form><form action="check" method="POST"><input type="hidden" name="token" value="t&amp;1"><input name="name">
<input type="password" name="word"><input type="checkbox" name="keep" value="y"><select name="area"><option value="1">
<option value="2" selected></select><input type="submit" name="go" value="登录"></form>"""


def test_the_form_with_one_password_is_found_and_filled_in() -> None:
    page = parse_html_page(LOGIN.url, FORM.encode(), "text/html; charset=utf-8")
    assert page is not None
    form = page.find_form()
    assert form is not None
    assert (form.action, form.method) == ("https://a.example/member/check", "post")
    assert form.field_settings == ("name={user}", "word={password}")
    assert fill_in(form, LOGIN, "s&=密") == b"token=t%261&name=ann&word=s%26%3D%E5%AF%86&area=2&go=%E7%99%BB%E5%BD%95"


def test_fields_of_the_settings_replace_those_of_the_page() -> None:
    page = parse_html_page(LOGIN.url, FORM.encode(), "text/html; charset=utf-8")
    form = page.find_form() if page else None
    assert form is not None
    login = Login(LoginKind.FORM, "ann", LOGIN.url, ("name={user}", "area=1", "extra=e"))
    assert fill_in(form, login, "s") == b"token=t%261&name=ann&word=s&area=1&go=%E7%99%BB%E5%BD%95&extra=e"


def test_a_form_in_another_encoding_is_sent_in_it() -> None:
    html = FORM.replace("<base", "<meta charset=gbk><title>会员登录系统</title><base").encode("gbk")
    page = parse_html_page(LOGIN.url, html, "text/html")
    form = page.find_form() if page else None
    assert form is not None and fill_in(form, LOGIN, "s").endswith(b"go=%B5%C7%C2%BC")


@pytest.mark.parametrize(
    ("body", "is_login"),
    [
        (f"<title>x</title>{FORM}", True),
        ("<h1>News</h1><form action='/comment'><input name='text'><input type=password name='deletion'></form>", False),
        ("<p>" + "Words of an article. " * 200 + "<a href='/member/login.php'>Login</a>", False),
        ("<script>alert('请先登录');location.href='/member/login.php'</script>", True),
        ("<p>Your <b>session</b> has\n ended.</p>", True),
        ("<p>Nothing special</p>", False),
        ("<form action=/p><input type=password name=a><input type=password name=b></form>", False),
        ("<form action='http://[x/'><input type=password name=a></form>", False),
        ("<!-- <input type=password> -->", False),
        ("", False),
        ("\x00\x01", False),
    ],
)
def test_a_page_in_place_of_another_one(body: str, is_login: bool) -> None:
    page = parse_html_page(LOGIN.url, FORM.encode(), "text/html")
    form = page.find_form() if page else None
    login = Login(LoginKind.FORM, "ann", LOGIN.url, signed_out_text="session has ended")
    assert shows_login("https://a.example/n/1", body.encode(), "text/html", login, form) is is_login


@pytest.mark.parametrize(
    ("url", "is_logout"),
    [
        ("https://a.example/logout", True),
        ("https://a.example/user/Sign-Out.php", True),
        ("https://a.example/x/logoff/", True),
        ("https://a.example/member.php?mod=logging&action=logout&hash=1", True),
        ("https://a.example/?logout", True),
        ("https://a.example/help/how-to-log-out", False),
        ("https://a.example/news/logout-of-the-market.html", False),
        ("https://a.example/?q=how+to+logout", False),
        ("https://a.example/outlook", False),
        ("https://a.example/", False),
    ],
)
def test_urls_that_end_a_session(url: str, is_logout: bool) -> None:
    assert is_logout_url(url) is is_logout


@pytest.mark.parametrize(
    ("text", "is_logout"),
    [
        *(
            (text, True)
            for text in ("Log out", "sign off", "[退出]", "退出登录", "注销", "安全退出", "登出", "注销账号")
        ),
        *((text, False) for text in ("How to log out", "某公司退出市场", "Logout of the market", "", "退出机制")),
    ],
)
def test_texts_of_links_that_end_a_session(text: str, is_logout: bool) -> None:
    assert is_logout_anchor(text) is is_logout


def test_challenges_are_parsed() -> None:
    header = 'Digest realm="a, \\"b\\"", nonce="n1", qop="auth,auth-int", stale=TRUE, Basic realm="c", '
    header += "NTLM TlRM==, Negotiate"
    digest, basic, ntlm, negotiate = parse_challenges(header)
    assert digest.parameters == {"realm": 'a, "b"', "nonce": "n1", "qop": "auth,auth-int", "stale": "TRUE"}
    assert (basic.scheme, basic.parameters) == ("basic", {"realm": "c"})
    assert (ntlm.scheme, ntlm.token, negotiate.scheme) == ("ntlm", "TlRM==", "negotiate")
    assert list(parse_challenges('=,,= "')) == []


def test_a_digest_that_cannot_be_answered_is_left_out() -> None:
    header = 'Digest realm="r", nonce="a", qop="auth-int", Digest realm="r", nonce="c", algorithm=SHA-256, qop="auth"'
    answer = digest_header(parse_challenges(header), "ann", "secret", "GET", "https://a.example/x?y=1", 7)
    assert answer is not None and "secret" not in answer
    values = parse_challenges(answer)[0].parameters
    assert (values["nonce"], values["uri"], values["nc"]) == ("c", "/x?y=1", "00000007")
    for unusable in ('Digest nonce="a"', 'Digest realm="r", nonce="a", algorithm=SHA-9', "Basic"):
        assert digest_header(parse_challenges(unusable), "ann", "secret", "GET", "https://a.example/", 1) is None
