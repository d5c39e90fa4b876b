"""The page as the decisions see it: decoded, cleaned, as lines of text, and as the blocks of its body."""
