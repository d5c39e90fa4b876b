"""Finding by meaning beside words: fused lists, answers that quote, related articles. Pure."""
