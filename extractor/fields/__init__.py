"""The fields of an article: title, date, byline, language, and what its metadata say."""
