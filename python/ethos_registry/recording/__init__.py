"""Recorded calls: each call with its arguments and output, after redaction."""
