"""The lexicon stage: find the words of the domain in its articles.

In: titles and bodies of articles. Out: `Term`s for an administrator to judge, and from the accepted ones the
`LexiconEntry`s of the next lexicon version, in the format of a jieba user dictionary.

    build.py       open this first: `mine_terms`, by the learned scorer or by the paper's rules
    review.py      from accepted terms to the next version; what a new version changes
    dictionary.py  jieba dictionary lines, read and written, all or nothing
    interchange.py other word lists, and the lexicon for other programs
    evidence.py    the parts of a score, for people    review_order.py  what to review next, learned from decisions
    contexts.py    the sentences that show a term in use

The learned scorer, in the order of the data (docs/terms.md):

    corpus.py      what is mined                     prose.py     running text, and what only programs write
    counting.py    a corpus from day to day, in bounded memory    offers.py  which candidates wait for review
    remembered.py  what a day knows of the last      packing.py, runs.py  rows as bytes, in files
    selecting.py   the rows that may be terms
    tokens.py      text -> numbered words            words.py     what is known of a word beforehand
    boundaries.py  gaps between words, judged        occurrences.py  spans of words, with what is judged of them
    keys.py        hashes numbered, many at a time   ngrams.py    the table of all spans: counts that add up
    features.py    the numbers of a row              judge.py     what they say, made quick for many rows
    learned.py     the models at work: counting, ranking          seeds.py   guided by the terms there are already
    training.py    how their weights are made (`python -m lexicon.training DATA`)

The paper's way (Wang Du 2019, WD-F4, WD-A5):

    rules.py       the tag sequences that make a candidate (data/pos_rules*.tsv)   derive.py  where they come from
    candidates.py  sentences -> tagged words -> spans -> counted candidates
    filters.py     noise: what has the right tags and is no term all the same
    scorers.py     `TermScorer` and the name table; C-value
"""
