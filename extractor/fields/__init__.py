"""Fields of an article: title, date, byline, language and other metadata."""
