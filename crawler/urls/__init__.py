"""Compare URLs: canonical forms, ignored parameters and registrable domains."""
