"""Complete text of results that were cut: stores, references, blocks."""
