"""The stage `ocr`: text of scanned and garbled pages of PDF files, read from their pictures."""
