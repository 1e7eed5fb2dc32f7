"""How one model API writes tools, calls, results and streams; one file a provider."""
