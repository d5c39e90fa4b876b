"""The pages of those who run the site, and the figures they watch it by."""
