"""Ready tools for the web: pages and searches."""
