"""The learned model of terms.

word_features.py   features of a word without any text      boundaries.py      scores of gaps between words
row_features.py    features of a table row                  classifier.py      classifier, fast for many rows
term_model.py      counting and ranking with the models     feature_report.py  parts of a score for reviewers
"""
