"""What the site knows, for pages, API, MCP, feeds and exports, which only render it. No Flask."""
