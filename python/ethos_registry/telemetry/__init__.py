"""Observers that report to tracing and metrics: OpenTelemetry (extra `otel`)."""
