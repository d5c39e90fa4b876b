"""The pages of reviewers: terms, history, lexicon versions and topics."""
