"""Where a tool runs if not here: worker processes, an MCP server, Ray."""
