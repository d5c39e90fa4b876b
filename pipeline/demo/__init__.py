"""The bundled demo vertical: three invented oil-and-gas news sites, served on loopback.

Input:  data/stories_*.toml (story templates), data/featured.toml (single articles and files), data/words.toml (invented
        names), data/site_*.toml (one design each).
Output: a folder of static files, one subfolder per host, and an HTTP server that selects the site by Host header.

    articles.py   generates 300 articles from story templates, the same articles every time
    featured.py   articles and PDF files that show single features: a story, definitions, glosses, answers
    pdf.py        writes simple PDF files
    picture.py    draws the small PNG pictures and the icon
    render.py     renders the files of a site from articles and a design
    site.py       writes the files, changes one article, serves the sites     <- start reading here
    run.py        `plumb demo`: runs all stages on the sites

All content was written for this project. All names of companies, fields, places and people are invented. The hosts end
in `.localhost`, which RFC 6761 reserves for loopback.
"""
