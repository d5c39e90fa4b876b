"""Candidate terms, the decisions on them with their history, and the published versions of the lexicon."""
