"""Compare URLs: canonical forms, DUST (different URLs with similar text), registrable domains and traps."""
