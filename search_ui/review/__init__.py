"""The pages of reviewers: candidate terms, their history, versions of the lexicon, topics."""
