"""Our strategy: the promise of a link, learned while crawling. `strategy.py` first; data/ has the pretrained prior."""
