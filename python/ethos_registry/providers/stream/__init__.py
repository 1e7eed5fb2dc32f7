"""Streamed replies: a state machine for each provider's events."""
