"""HTTP to declared hosts: every address is checked before a connection is made."""
