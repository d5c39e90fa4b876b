"""The lexicon stage: find the words of the domain in its articles (Wang Du 2019, WD-F4, WD-A5).

In: titles and bodies of articles. Out: `Term`s for an administrator to judge, and from the accepted ones the
`LexiconEntry`s of the next lexicon version, in the format of a jieba user dictionary.

    build.py       open this first: `mine_terms`, the paper's algorithm as its steps
    rules.py       the tag sequences that make a candidate (data/pos_rules.tsv)
    candidates.py  sentences -> tagged words -> spans -> counted candidates
    filters.py     noise: what has the right tags and is no term all the same
    scorers.py     `TermScorer` and the name table; C-value
    contexts.py    the sentences that show a term in use
    dictionary.py  jieba dictionary lines, read and written, all or nothing
    review.py      from accepted terms to the next version; what a new version changes
"""
