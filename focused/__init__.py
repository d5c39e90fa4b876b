"""Focused (topical) crawling: relevance of pages and priorities of links for a topic.

Input: a topic (name, example pages, terms confirmed by the administrator) and tokenized pages and links. Output: a
relevance decision per page and a priority per link. The crawler depends only on the protocols in
`crawler/focused_policy.py`.

    topic_policy.py        read this first: the policy of a running crawl, and how its state is restored
    state_snapshot.py      stores that state in a file, so that a start need not replay all pages
    strategy_registry.py   strategies by name
    fused/                 our strategy: learns during the crawl which links lead to relevant pages
    paper_strategies/      strategies of Zhou 2019, Wu 2015 and Zhang 2017, each with the baseline of its paper
    concepts/              concepts of words from the administrator's files
    topic/                 topic files, term proposals and the administrator's decisions
"""
