"""The settings by the question that they answer, when a change takes effect, and which of them are secret."""

from collections.abc import Mapping, Sequence

from search_ui.admin.interfaces.settings import SettingEffect

_GROUP_TEXTS: Mapping[str, str] = {
    "what": (
        "vertical.name crawl.seeds crawl.scope crawl.paused_sites crawl.depth crawl.sitemaps crawl.documents"
        " crawl.document_formats crawl.rendered crawl.topic crawl.concepts crawl.strategy"
        " topic.precision topic.questions"
    ),
    "speed": (
        "crawl.delay crawl.site_delays crawl.speed_up crawl.minutes crawl.max_pages crawl.threads crawl.processes"
        " crawl.per_host crawl.per_ip crawl.delay_factor crawl.queue_policy crawl.queues"
    ),
    "times": (
        "schedule.at schedule.grace_hours schedule.stages schedule.sites crawl.quiet_hours crawl.site_quiet_hours"
        " crawl.incremental crawl.revisit_shortest crawl.revisit_longest crawl.hub_gap"
    ),
    "exclusions": (
        "crawl.max_bytes crawl.max_document_mb extract.shortest_body extract.near_duplicate extract.list_link_share"
        " extract.list_longest_body extract.copyright_longest store.keep_days store.keep_days_by_site"
    ),
    "search": (
        "search.title search.profile search.page_size search.deepest_result search.longest_query search.originals"
        " search.pictures search.site_names search.developer_tools search.log_days"
        " search.access_log embed.model embed.languages embed.pooling embed.query_prefix embed.document_prefix"
        " embed.near_enough embed.passages embed.processes embed.jars"
    ),
    "terms": (
        "lexicon.auto_publish lexicon.two_reviewers lexicon.scorer lexicon.probability lexicon.depth"
        " lexicon.min_frequency lexicon.max_contexts lexicon.context_chars lexicon.threshold lexicon.length_unit"
        " lexicon.rules lexicon.tag_matching"
    ),
    "identity": (
        "crawl.contact crawl.user_agent crawl.headers crawl.cookies crawl.proxies crawl.inside_hosts"
        " crawl.connect_timeout crawl.read_timeout crawl.total_timeout crawl.max_redirects"
    ),
    "texts": (
        "extract.method extract.alpha extract.beta extract.candidates extract.tighten extract.score_terms"
        " extract.document_seconds extract.document_mb ocr.enabled ocr.minutes ocr.pages ocr.min_confidence"
        " ocr.memory_mb"
    ),
    "alerts": (
        "alerts.mail_to alerts.mail_from alerts.smtp alerts.smtp_security alerts.smtp_user alerts.smtp_password_file"
        " alerts.webhook alerts.inside_hosts alerts.language alerts.silent_days alerts.rising_terms"
        " alerts.seconds"
    ),
    "machine": (
        "search.host search.port search.base_url search.workers search.at_once search.timeout search.trusted_proxies"
        " vertical.data_dir vertical.log_format store.url store.warc store.warc_megabytes crawl.seen_filter"
        " index.solr_url index.shards index.replicas index.collection index.solr_port index.solr_heap index.solr_jars"
        " index.batch index.start_timeout index.request_timeout cluster.engine cluster.scheduler cluster.dashboard"
        " cluster.crawlers cluster.block cluster.heartbeat_seconds"
    ),
}
GROUPS: Mapping[str, Sequence[str]] = {name: text.split() for name, text in _GROUP_TEXTS.items()}
"""Paths of the settings by the question of their group. Every setting is in one group."""

_EFFECT_BY_SECTION: Mapping[str, SettingEffect] = {
    "schedule": SettingEffect.AT_ONCE,  # a running `plumb schedule` reads the file every 20 seconds
    "search": SettingEffect.AT_ONCE,  # the search site reads the file again when it changes
    "vertical": SettingEffect.RUN_AND_RESTART,
    "store": SettingEffect.RUN_AND_RESTART,
    "index": SettingEffect.RUN_AND_RESTART,  # the search site updates the index too
    "embed": SettingEffect.RUN_AND_RESTART,  # the search site embeds queries
    "cluster": SettingEffect.RUN_AND_RESTART,
}
_EFFECT_BY_PATH: Mapping[str, SettingEffect] = {
    "search.host": SettingEffect.RESTART,
    "search.port": SettingEffect.RESTART,
    "search.workers": SettingEffect.RESTART,
    "search.trusted_proxies": SettingEffect.RESTART,
    "search.access_log": SettingEffect.RESTART,
    "vertical.name": SettingEffect.AT_ONCE,
    "lexicon.two_reviewers": SettingEffect.AT_ONCE,
    "embed.passages": SettingEffect.NEXT_RUN,
    "embed.processes": SettingEffect.NEXT_RUN,
    "store.keep_days": SettingEffect.NEXT_RUN,
    "store.keep_days_by_site": SettingEffect.NEXT_RUN,
    "crawl.user_agent": SettingEffect.RUN_AND_RESTART,  # the search site checks whether sites permit saved pages
}

SECRETS = frozenset({"crawl.headers", "crawl.cookies", "alerts.webhook"})
URLS_WITH_PASSWORDS = frozenset({"crawl.proxies", "store.url", "index.solr_url"})
"""Secret if a value has a user name or password before its host."""


def setting_effect(path: str) -> SettingEffect:
    """Return when a change of a setting takes effect."""
    return _EFFECT_BY_PATH.get(path, _EFFECT_BY_SECTION.get(path.partition(".")[0], SettingEffect.NEXT_RUN))


def is_secret(path: str, text: str) -> bool:
    """Return True if the value `text` of a setting must not be shown."""
    return path in SECRETS or (path in URLS_WITH_PASSWORDS and "@" in text)
