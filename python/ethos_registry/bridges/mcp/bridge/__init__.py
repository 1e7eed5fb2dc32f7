"""Tools of MCP servers in a registry; `mcp` is imported when a connection is made."""
