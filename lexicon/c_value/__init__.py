"""The paper's algorithm (Wang Du 2019, WD-F4, WD-A5): spans by tag rules, noise filters, C-value.

candidates.py       sentences -> tagged words -> spans -> counted candidates
rules.py            tag sequences of a candidate (data/pos_rules*.tsv)
rule_derivation.py  derives such rules from word lists
noise_filters.py    removes spans that have the right tags but are no terms
c_value.py          C-value
"""
