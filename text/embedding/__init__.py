"""Texts as vectors: the embedder interface, passages of a text, and ONNX models."""
