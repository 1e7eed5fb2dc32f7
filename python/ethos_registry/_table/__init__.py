"""Python objects beside the native table: entries, snapshots and the one verdict of a gate."""
