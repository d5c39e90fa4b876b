"""What kind of page a page is, and the body rule of each kind: threads, manuals, products, services, collections."""
