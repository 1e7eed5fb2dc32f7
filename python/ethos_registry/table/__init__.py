"""Names and gates: the registry's entries over the native table."""
