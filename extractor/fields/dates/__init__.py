"""The day an article was published: where pages write it, in which calendars and languages."""
