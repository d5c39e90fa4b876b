"""Decode bytes to text, equally for crawler and extractor, and limit the input of HTML parsers."""
