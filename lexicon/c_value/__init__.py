"""The paper's way (Wang Du 2019, WD-F4, WD-A5): spans by tag rules, noise taken out, scored by C-value.

candidates.py  sentences -> tagged words -> spans -> counted candidates
rules.py       the tag sequences that make a candidate (data/pos_rules*.tsv)   derive.py  where they come from
filters.py     noise: what has the right tags and is no term all the same
scorers.py     `TermScorer` and the name table; C-value
"""
