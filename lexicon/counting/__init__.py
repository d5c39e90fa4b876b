"""Incremental n-gram counting of a corpus. The modules, in the order of the data flow.

corpus.py             documents to mine               prose_filter.py   running text, without code and labels
tokens.py             text -> word ids                occurrences.py    word spans with their boundary scores
ngram_table.py        table of all spans              hash_index.py     vectorised ids for hashes
incremental_count.py  counts of changed documents     counts_store.py   counts stored between runs
row_serialization.py, sorted_runs.py  rows in files   candidate_selection.py  rows that can be terms
distributed_count.py  counting on several machines
"""
