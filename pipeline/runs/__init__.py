"""Scheduled runs: timetable, scheduler, run records, run history, and notifications of systemd."""
