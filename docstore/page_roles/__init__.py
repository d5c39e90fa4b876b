"""Which pages form one article, and which pages are lists. Read `resolve_roles.py` first."""
