"""One HTTP request and its response, within limits of time, size and IP addresses."""
