"""Parsing of a page: decoded, cleaned, laid out as lines of text, with the element spans that contain them."""
