"""Text algorithms that know words, but neither URLs nor documents; imports nothing of ours.

In: plain `str`, and the words of one lexicon version. Out: words, tags, and keys that compare words.

    segment.py      open this first: `Segmenter` (cut, tag) and its rjieba implementation
    mixed_terms.py  finds the domain terms a Chinese segmenter cannot keep whole (`PDC钻头`, `shale gas`)
    general_language.py  how often words are used whatever a text is about
    scripts.py      which script a character is of; letters that pass for those of another
    decoding/       bytes to text, as crawler and extractor both read a page; what no HTML parser should be given
    folding.py      letter width, letter case and white space made comparable (`word_key`)

Nothing here holds process-wide state that can change: a segmenter is built for one lexicon version and never
altered, so several versions live side by side and threads may share one.
"""
