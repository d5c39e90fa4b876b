"""A topic as its operator says it: the file, the terms proposed for it, the decisions on them."""
