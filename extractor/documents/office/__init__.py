"""Files of Office and OpenDocument: what is written today as zips of XML, what was before as compound files."""
