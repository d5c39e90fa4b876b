"""What the search site may do with the store, and the server that runs it."""
