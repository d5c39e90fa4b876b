"""Semantic search: the embedding models and the stage that computes article vectors."""
