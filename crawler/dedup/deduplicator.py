"""Find duplicate pages and variant URLs of one run, by page content and by the DUST rules of a site."""

from array import array
from collections.abc import Iterable
from functools import cache

from crawler.dedup.content_fingerprint import ContentFingerprint
from crawler.dedup.dust import DustRules
from crawler.urls.canonical import host_of

_MAX_PAGES_REMEMBERED = 50_000
_BUCKETS = 1 << 19  # of four sentences each: 8 MB; of a million sentences, one in twenty is forgotten
_SENTENCES_PER_BUCKET = 4
_MIN_NEW_BYTES = 40  # less text is not new, e.g. the words of a search without results
_MIN_NEW_SHARE = 0.1


class Deduplicator:
    """Pages read in this run, and variants of known URLs. Memory is bounded."""

    def __init__(self, dust_rules: DustRules) -> None:
        self._dust_rules = dust_rules
        # (host, content digest) -> first URL with this content
        self._first_url_by_content: dict[tuple[str, str], str] = {}
        self._seen_sentences = SeenSentences()

    def record_page(self, url: str, fingerprint: ContentFingerprint) -> str:
        """Record a page at its canonical URL. Returns the URL of an equal page of this run that is a variant, or ""."""
        if not fingerprint.exact_digest:
            return ""
        host = host_of(url)
        equal_url = self._dust_rules.for_host(host).record_page(url, fingerprint.exact_digest)
        self._first_url_by_content.setdefault((host, fingerprint.digitless_digest), url)
        if len(self._first_url_by_content) > _MAX_PAGES_REMEMBERED:
            del self._first_url_by_content[next(iter(self._first_url_by_content))]
        return equal_url

    def is_duplicate_content(self, url: str, fingerprint: ContentFingerprint) -> bool:
        """True if another page of the host had the same content, digits ignored, in this run.

        Call it after `record_page`.
        """
        return self._first_url_by_content.get((host_of(url), fingerprint.digitless_digest), url) != url

    def novelty(self, url: str, fingerprint: ContentFingerprint) -> float:
        """Return the share of the content that is new to the host in this run, 0 to 1. Call it once per page."""
        return self._seen_sentences.add_and_score_novelty(host_of(url), fingerprint)

    def has_same_content(self, url: str, fingerprint: ContentFingerprint) -> bool:
        """True if the page at `url` ("": none) was read in this run and has the same content."""
        return (
            bool(url and fingerprint.digitless_digest)
            and self._first_url_by_content.get((host_of(url), fingerprint.digitless_digest)) == url
        )

    def reduced_url(self, url: str) -> str:
        """Return the URL without the parts that are redundant on its site, or "" if it has none."""
        reduced_url = self._dust_rules.for_host(host_of(url)).reduce_url(url)
        return reduced_url if reduced_url != url else ""

    def record_known_urls(self, urls: Iterable[str]) -> None:
        """Record known URLs, so that their variants are detected."""
        rules_of = cache(self._dust_rules.for_host)  # the known links of a page have few hosts
        for url in urls:
            rules_of(host_of(url)).first_variant(url)

    def is_variant(self, url: str) -> bool:
        """True if the URL is a variant of another URL seen in this run."""
        return self._dust_rules.for_host(host_of(url)).first_variant(url) != url


class SeenSentences:
    """The sentences of the pages of a run by host, to measure how much of a page is new.

    A table of fixed size contains hashes of sentences. A new sentence replaces the oldest one of its bucket, so an old
    sentence may count as new again.
    """

    def __init__(self) -> None:
        self._hashes = array("I", bytes(4 * _BUCKETS * _SENTENCES_PER_BUCKET))

    def add_and_score_novelty(self, host: str, content: ContentFingerprint) -> float:
        """Add the page's sentences and return its novelty: the share of bytes in sentences new to this host, 0 to 1.

        Returns 0 if less than 40 bytes or 10% are new, and 1 for a page without text.
        """
        if not content.exact_digest:
            return 1.0
        new_bytes = total_bytes = 0
        hashes = self._hashes
        for sentence_hash, size in set(content.sentence_hashes):  # repeated sentences are navigation
            total_bytes += size
            quotient, bucket_index = divmod(hash((host, sentence_hash)), _BUCKETS)
            start, sentence = bucket_index * _SENTENCES_PER_BUCKET, quotient & 0xFFFFFFFF
            bucket = hashes[start : start + _SENTENCES_PER_BUCKET]
            if sentence not in bucket:
                new_bytes += size
                bucket.insert(0, sentence)
                bucket.pop()
                hashes[start : start + _SENTENCES_PER_BUCKET] = bucket
        return (
            new_bytes / total_bytes
            if new_bytes >= _MIN_NEW_BYTES and new_bytes >= _MIN_NEW_SHARE * total_bytes
            else 0.0
        )
