"""The Model Context Protocol; needs the extra `mcp`."""
