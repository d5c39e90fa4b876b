"""What goes on at the same time: threads that fetch, one that records, several processes over one table."""
