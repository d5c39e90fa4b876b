"""The values that stages exchange, and pure functions on them. Uses the standard library only.

    Link     a URL worth fetching, with the words around it       crawler -> frontier
    Page     a stored response (bytes in WARC)                    crawler -> extractor
    Article  the content of a page: title, date, body             extractor -> lexicon, indexer
    Term     a candidate term of the domain, with its evidence    lexicon -> reviewer
    Lexicon  one immutable, published version of accepted terms   lexicon -> indexer, search_ui
    Outcome  the result of one stage for one URL, with a reason   every stage -> `plumb status`

Nothing here opens a file, a database or a connection. Stored times are seconds since 1970-01-01 UTC (float).
"""
