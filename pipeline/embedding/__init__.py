"""Finding by meaning: which models there are, and the stage that makes vectors of articles."""
