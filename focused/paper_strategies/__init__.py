"""The strategies of the papers with their baselines, and what they compare words by: vectors, concepts, trees."""
