"""Personalities from YAML."""
