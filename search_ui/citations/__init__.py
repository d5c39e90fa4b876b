"""References to articles in the formats of reference managers. No Flask."""
