"""The search site: what the readers of the vertical see, and where its administrator reviews new words.

Comes in: a reader's words and filters, Solr's answers, the review actions that `pipeline` hands in.
Goes out: pages in Chinese and English, the same results as JSON, decisions on terms.

    pages/       what readers see: home, results, an article, comparison (Wang Du 2019, WD-S3), feeds, suggestions
    query/       what a reader asked, as questions to Solr, and Solr's answers as results; knows no Flask
    spelling/    what was meant instead: other spellings, sounds, pinyin; knows no Flask
    review/      the signed-in area: terms and topics
    admin.py, api.py   reports for the operator; the same as the pages for programs

Open `pages/searcher.py` first, then `query/solr_params.py`; `query/ranking.py` says how documents are ranked and why no
reader can reach Solr's syntax.
"""
