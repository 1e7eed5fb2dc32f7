"""Tools and calls for agent frameworks, one module a framework."""
