"""Adapters to other protocols and frameworks; each needs its own extra."""
