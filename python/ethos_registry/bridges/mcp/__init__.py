"""The Model Context Protocol, in both directions; needs the extra `mcp`."""
