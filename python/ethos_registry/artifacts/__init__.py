"""The complete text of results that were cut: how it is stored and read."""
