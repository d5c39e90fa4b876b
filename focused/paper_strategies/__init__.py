"""The strategies of the papers with their baselines, and the vectors, concepts and trees they compare words with."""
