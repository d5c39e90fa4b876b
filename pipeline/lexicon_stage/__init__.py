"""What the lexicon stage does besides the term mining: definitions, rising terms, automatic publication."""
