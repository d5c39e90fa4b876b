"""Semantic search: the embedding models, the passages of a text, and the stage that computes article vectors."""
