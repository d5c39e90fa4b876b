"""All accepted URLs with due dates and visit results. Read `frontier_table.py` first."""
