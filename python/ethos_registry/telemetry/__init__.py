"""Observers for OpenTelemetry and the attribute sets of vendors."""
