"""The work behind the administration pages of the search site."""
