"""Interfaces for other programs: MCP for agents, and the retrieval API of Dify."""
