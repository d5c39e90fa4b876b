"""Topics as the administrator defines them: topic files, proposed terms and decisions on them."""
