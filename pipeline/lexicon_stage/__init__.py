"""What the lexicon stage does besides the term mining: definitions, relations, rising terms, automatic publication."""
