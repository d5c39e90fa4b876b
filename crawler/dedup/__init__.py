"""Detect duplicate pages and variant URLs: content fingerprints, new sentences and DUST rules."""
