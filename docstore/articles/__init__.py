"""Articles, and the pages that wait to become some. `table.py` reads, `extraction_writer.py` writes."""
