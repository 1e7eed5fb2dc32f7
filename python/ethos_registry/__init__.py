"""The tool registry for LLM agents."""
