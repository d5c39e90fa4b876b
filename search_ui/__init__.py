"""The search site: public pages, JSON API, lexicon and topic review, administration.

    pages/       public pages: home, results, article, comparison (Wang Du 2019, WD-S3), feeds, suggestions
    query/       builds Solr requests and reads the responses; no Flask
    services/    articles, terms, definitions and exports for all that is rendered; no Flask
    spelling/    corrections by edits, sound and pinyin; no Flask
    review/      review of terms and topics, for signed-in reviewers
    admin/       reports, alerts and metrics, for administrators
    api.py       the JSON API

Start with `query/search.py`, then `query/solr_requests.py`. `query/ranking.py` defines the ranking.
`query/solr_query.py` keeps user input out of Solr's syntax.
"""
