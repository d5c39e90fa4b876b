"""The learned judgement of what is a term.

words.py       what is known of a word beforehand      boundaries.py   gaps between words, judged
features.py    the features of a row                   classifier.py   what they say, made quick for many rows
learned.py     the models at work: counting, ranking   feature_report.py   the parts of a score, for people
"""
