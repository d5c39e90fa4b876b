"""Texts as vectors: what a model promises (`contract`), passages of a text, and a model that onnxruntime computes."""
