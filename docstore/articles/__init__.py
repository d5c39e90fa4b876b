"""Articles, and the pages pending extraction. `article_table.py` reads, `extraction_writer.py` writes."""
