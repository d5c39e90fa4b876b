"""How alike two texts are: copies, edited copies, tellings of one event."""
