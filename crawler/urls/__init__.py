"""How URLs compare: canonical forms, DUST (different URLs with similar text), registered domains, traps."""
