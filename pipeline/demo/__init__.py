"""The bundled demo vertical: three invented oil-and-gas news sites, served on loopback.

In:  data/stories_*.toml (story frames), data/words.toml (invented names), data/site_*.toml (one template each).
Out: a folder of static files, one sub-folder per host, and an HTTP server that chooses the site by Host header.

    articles.py   300 articles from story frames, the same ones every time
    picture.py    the small PNG pictures and the icon
    render.py     articles + a site's template -> the site's files
    site.py       write the files, change one article, serve them     <- open this first

Everything here was written for this project. All names of companies, fields, places and people are invented;
the hosts end in `.localhost`, which RFC 6761 reserves for loopback.
"""
