"""The strategy `fused`, which learns link priorities during the crawl.

Read `strategy.py` first; data/ has the pretrained weights.
"""
