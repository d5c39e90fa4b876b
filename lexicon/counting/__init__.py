"""Counting a corpus, in the order of the data:

corpus.py      what is mined                     prose.py        running text, and what only programs write
tokens.py      text -> numbered words            occurrences.py  spans of words, with what is judged of them
ngrams.py      the table of all spans: counts that add up        hashing.py  hashes numbered, many at a time
count.py       a corpus from day to day, in bounded memory       remembered.py  what a day knows of the last
packing.py, sorted_runs.py  rows as bytes, in files              selecting.py   the rows that may be terms
"""
