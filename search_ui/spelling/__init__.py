"""What was meant instead: did-you-mean, other spellings, what sounds alike. Knows no Flask."""
