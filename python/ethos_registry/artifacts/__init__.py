"""Whole texts of results that were cut: what keeps them, and how they are read."""
