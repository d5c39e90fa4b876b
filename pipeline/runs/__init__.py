"""When a run begins, what is noted of it, and how the one who keeps the service hears of it."""
