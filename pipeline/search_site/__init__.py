"""The search site on the store of a vertical, and the server that runs it."""
