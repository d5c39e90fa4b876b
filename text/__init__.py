"""Text algorithms on words. Independent of URLs and documents; imports no other package of Plumbline.

Input: plain `str`, and the words of one lexicon version. Output: words, tags, and keys that compare words.

    segment.py                 open this first: `Segmenter` (cut, tag) and its rjieba implementation
    mixed_terms.py             finds terms that a Chinese segmenter splits (`PDC钻头`, `shale gas`)
    background_frequencies.py  frequency of words in general language
    scripts.py                 the script of a character, and letters that look like those of another script
    folding.py                 comparable letter width, case and white space (`word_key`)
    decoding/                  bytes to text and HTML to a tree, for crawler and extractor, with limits
    embedding/                 texts as vectors
    similarity/                duplicates

No mutable process-wide state: a segmenter belongs to one lexicon version and never changes. Several versions can
coexist, and threads can share one.
"""

import os

# onnxruntime 1.29 and later reports the models and the machine to Microsoft unless this is set before its import. Every
# package that uses it, directly or through RapidOCR, imports this one first.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
