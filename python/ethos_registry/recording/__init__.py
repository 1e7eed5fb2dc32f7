"""Calls with arguments and output in a file, after redaction, and reading them back."""
