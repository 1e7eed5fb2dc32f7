"""Reducers, output formats and the finish of one text: the Python face of the native reducer."""
