"""Which pages form one article, and which articles are copies of others. Read `resolve_roles.py` first."""
