"""Texts as vectors: the embedder interface and ONNX models."""
