"""Date of publication: where pages give it, in all calendars and languages of the web."""
