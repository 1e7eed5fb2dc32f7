"""Whole files, locked files, SQLite and one writer thread: a killed process loses nothing."""
