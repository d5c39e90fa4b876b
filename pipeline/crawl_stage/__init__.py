"""What the crawl stage does besides the crawl: its progress, linked documents, rendered sites."""
