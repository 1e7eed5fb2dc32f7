"""The faces of the registry."""
