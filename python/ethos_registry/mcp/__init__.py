"""MCP both ways: tools of MCP servers in a registry, and a view served over MCP."""
