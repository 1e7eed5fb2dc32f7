"""Tools across frameworks and protocols: one module each, imported only when it is used."""
