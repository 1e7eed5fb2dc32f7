"""What a tool, a call, a context and a policy are: immutable values and their ports."""
