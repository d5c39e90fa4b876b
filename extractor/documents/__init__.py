"""Document files (PDF, Office, OpenDocument, EPUB, OFD, text) become articles as pages do.

In: the bytes of a file and its URL.   Out: docstore.model.Article or Outcome.

Open read.py first. detection.py tells the format, each format has a reader that makes a `Content` (content.py) of the
bytes, title.py and dates.py read the fields off it. Readers load their libraries when they are first used.
"""
