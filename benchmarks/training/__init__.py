"""Offline training of the weights that the product ships."""
