"""Pages and URLs of one run that are there twice: by what pages say, by what a site's URLs have taught."""

from collections.abc import Iterable

from crawler.parsing.content_fingerprint import ContentFingerprint
from crawler.parsing.seen_sentences import SeenSentences
from crawler.urls.canonical import host_of
from crawler.urls.dust import DustRules

_MAX_PAGES_REMEMBERED = 50_000  # pages


class Deduplicator:
    """What was read in this run, and which URLs are another form of one that is known. Bounded in memory."""

    def __init__(self, dust_rules: DustRules) -> None:
        self._dust_rules = dust_rules
        self._first_url_by_content: dict[
            tuple[str, str], str
        ] = {}  # host and what a page says -> the first URL that said so
        self._seen_sentences = SeenSentences()

    def record_page(self, url: str, fingerprint: ContentFingerprint) -> None:
        """A page was read at this canonical URL."""
        if not fingerprint.exact_digest:
            return
        host = host_of(url)
        self._dust_rules.for_host(host).record_page(url, fingerprint.exact_digest)
        self._first_url_by_content.setdefault((host, fingerprint.digitless_digest), url)
        if len(self._first_url_by_content) > _MAX_PAGES_REMEMBERED:
            del self._first_url_by_content[next(iter(self._first_url_by_content))]

    def is_duplicate_content(self, url: str, fingerprint: ContentFingerprint) -> bool:
        """Does the page say what another one of its host has said in this run, but for digits? Ask after `record_page`."""
        return self._first_url_by_content.get((host_of(url), fingerprint.digitless_digest), url) != url

    def novelty(self, url: str, fingerprint: ContentFingerprint) -> float:
        """The part of what a page says that no other page of its host has said in this run, 0 to 1. Ask once a page."""
        return self._seen_sentences.add_and_score_novelty(host_of(url), fingerprint)

    def has_same_content(self, url: str, fingerprint: ContentFingerprint) -> bool:
        """Was the page at `url` ("": none) read in this run, and did it say the same?"""
        return (
            bool(url and fingerprint.digitless_digest)
            and self._first_url_by_content.get((host_of(url), fingerprint.digitless_digest)) == url
        )

    def reduced_url(self, url: str) -> str:
        """The URL without what means nothing on its site; "" if that is the URL itself."""
        reduced_url = self._dust_rules.for_host(host_of(url)).reduce_url(url)
        return reduced_url if reduced_url != url else ""

    def record_known_urls(self, urls: Iterable[str]) -> None:
        """Known URLs, of which others may be forms."""
        for url in urls:
            self._dust_rules.for_host(host_of(url)).first_variant(url)

    def is_variant(self, url: str) -> bool:
        """Is the URL a form of another one met in this run?"""
        return self._dust_rules.for_host(host_of(url)).first_variant(url) != url
