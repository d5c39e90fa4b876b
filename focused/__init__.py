"""Crawling for a topic: which pages are of it, and which links lead to more of them.

In: a topic (a name, example pages, terms that its operator confirmed), and pages and links as words. Out: whether a
page is kept, and priorities of links. The crawl knows of this only what `crawler/focused_policy.py` says.

    topic_guide.py   open this first: the guide of a live crawl, and how its state is made again
    snapshot.py      that state in a file, so that a start need not show all pages again
    strategies.py    the strategies by name
    fused/           ours: it learns while crawling which links lead on
    papers/          those of Zhou 2019, Wu 2015 and Zhang 2017, each with the baseline it was measured against
    topic/           a topic's file, its feature library, and the operator's part
"""
