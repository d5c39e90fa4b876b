"""One request and its answer, inside limits: of time, of bytes, and of addresses that may be asked."""
