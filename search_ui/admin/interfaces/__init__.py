"""The interfaces of the administration pages to the store, one module for each area."""
