"""Worker processes with time and memory limits that extract pages and documents."""
