"""Candidate terms, review decisions with their history, and published versions of the lexicon."""
