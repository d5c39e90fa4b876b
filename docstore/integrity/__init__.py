"""Is the store what was written? Sums of what nothing can make again, and what can be saved of a damaged database."""
