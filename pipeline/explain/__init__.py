"""Explanations of how a page or URL was processed: for `plumb explain URL` and the annotated HTML page."""
