"""The lexicon stage: find the words of the domain in its articles.

In: titles and bodies of articles. Out: `Term`s for an administrator to judge, and from the accepted ones the
`LexiconEntry`s of the next lexicon version, in the format of a jieba user dictionary.

    mine.py        open this first: `mine_terms`, by the learned scorer or by the paper's rules
    counting/      every span of words of the corpus counted, in bounded memory, a day's changes alone
    model/         what is known of a word, the features of a span, the classifier that says which are terms
    c_value/       the paper's way: tag rules, noise, C-value (Wang Du 2019, WD-F4, WD-A5)
    offers.py      which candidates wait for review      review_order.py   what to review next, learned from decisions
    review.py      from accepted terms to the next version; what a new version changes
    dictionary.py  jieba dictionary lines, read and written, all or nothing
    interchange.py other word lists, and the lexicon for other programs
    contexts.py    the sentences that show a term in use     seeds.py   guided by the terms there are already

`benchmarks/training/terms.py` makes the model's weights; docs/background/mining.md tells the whole.
"""
