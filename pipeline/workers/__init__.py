"""Pages are read in processes of their own, which are killed at their deadline."""
