"""Personalities from YAML files, with the line number in every message."""
