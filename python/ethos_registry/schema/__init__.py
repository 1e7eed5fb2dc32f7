"""From a function's signature to a JSON Schema, and from arguments to a call."""
