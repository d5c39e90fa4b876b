"""From bytes to text, once for crawler and extractor, and what no HTML parser should be given."""
