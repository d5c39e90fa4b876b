"""Keeping a vertical whole: is it what was written, copies of it, what is wrong with the place it runs in."""
