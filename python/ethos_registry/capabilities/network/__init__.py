"""HTTP to declared hosts: every address is judged before it is connected to."""
