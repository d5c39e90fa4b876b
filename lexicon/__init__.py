"""The lexicon stage: mines domain terms from article texts.

Input: titles and bodies of articles. Output: `Term`s for a reviewer to decide on, and the `LexiconEntry`s of the next
lexicon version, built from the accepted terms in the format of a jieba user dictionary.

    mining.py             read this first: `mine_terms`, with the learned scorer or with the paper's rules
    counting/             counts of all word spans of the corpus, incremental and in bounded memory
    model/                word features, row features and the classifier that scores candidates
    c_value/              the paper's algorithm: tag rules, noise filters, C-value (Wang Du 2019, WD-F4, WD-A5)
    known_terms.py        adjusts scores with the terms that are known already
    review_selection.py   selects the candidates shown for review
    review_ranking.py     order of review, learned from decisions
    publishing.py         builds the next lexicon version from accepted terms, and compares versions
    version_check.py      checks a version with jieba before it is published
    jieba_segmenter.py    jieba itself as a segmenter
    jieba_dictionary.py   reads and writes jieba dictionary lines
    word_lists.py         other import and export formats
    concepts/             concepts of the terms, and their formats TBX, SKOS and CSV
    example_sentences.py  sentences that show a term in use
    sentences.py          sentences with the known terms in them, cut and matched once for the next two
    definitions.py        the sentence that defines a term; definition_weights.py has learned weights
    relations.py          broader terms and equivalents that sentences show
    similar_terms.py      known terms with similar spelling

`benchmarks/training/terms.py` trains the model's weights; see docs/background/mining.md.
"""
