"""Page types (thread, reference, product, service, collection, article), the body rule of each, and rejection rules."""
