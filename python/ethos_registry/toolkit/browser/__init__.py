"""Ready tools that drive a browser (extra `browser`)."""
