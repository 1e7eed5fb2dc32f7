"""Transports that run tools outside this process."""
