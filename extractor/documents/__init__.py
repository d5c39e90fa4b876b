"""Extraction from document files: PDF, Office, OpenDocument, EPUB, OFD, RTF and text.

Input: the bytes of a file and its URL. Output: domain.article.Article or Outcome.

Start with reader.py. format_detection.py detects the format. The reader of each format converts the bytes to a
`DocumentContent` (content.py). document_title.py and document_date.py find title, author and date. Readers import their
libraries on first use.
"""
