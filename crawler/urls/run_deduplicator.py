"""Pages and URLs of one run that are there twice: by what pages say, by what a site's URLs have taught."""

from collections.abc import Iterable

from crawler.pages.content import Content
from crawler.pages.known_pieces import KnownPieces
from crawler.urls.canonical import host_of
from crawler.urls.dust import DustRules

_MAX_REMEMBERED = 50_000  # pages


class RunDeduplicator:
    """What was read in this run, and which URLs are another form of one that is known. Bounded in memory."""

    def __init__(self, likenesses: DustRules) -> None:
        self._likenesses = likenesses
        self._said: dict[tuple[str, str], str] = {}  # host and what a page says -> the first URL that said so
        self._pieces = KnownPieces()

    def read(self, url: str, content: Content) -> None:
        """A page was read at this canonical URL."""
        if not content.exact:
            return
        host = host_of(url)
        self._likenesses.of(host).observe(url, content.exact)
        self._said.setdefault((host, content.loose), url)
        if len(self._said) > _MAX_REMEMBERED:
            del self._said[next(iter(self._said))]

    def is_same(self, url: str, content: Content) -> bool:
        """Does the page say what another one of its host has said in this run, but for digits? Ask after `read`."""
        return self._said.get((host_of(url), content.loose), url) != url

    def new_share(self, url: str, content: Content) -> float:
        """The part of what a page says that no other page of its host has said in this run, 0 to 1. Ask once a page."""
        return self._pieces.new_share(host_of(url), content)

    def has_said(self, url: str, content: Content) -> bool:
        """Was the page at `url` ("": none) read in this run, and did it say the same?"""
        return bool(url and content.loose) and self._said.get((host_of(url), content.loose)) == url

    def other_form(self, url: str) -> str:
        """The URL without what means nothing on its site; "" if that is the URL itself."""
        reduced = self._likenesses.of(host_of(url)).reduced(url)
        return reduced if reduced != url else ""

    def meet(self, urls: Iterable[str]) -> None:
        """Known URLs, of which others may be forms."""
        for url in urls:
            self._likenesses.of(host_of(url)).first_of(url)

    def is_another_form(self, url: str) -> bool:
        """Is the URL a form of another one met in this run?"""
        return self._likenesses.of(host_of(url)).first_of(url) != url
