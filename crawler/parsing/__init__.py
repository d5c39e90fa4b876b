"""What an answer says to a crawler: its links, where it sends its reader, whether it is a page at all."""
