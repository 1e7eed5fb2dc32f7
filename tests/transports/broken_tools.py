"""A module that no worker can import."""

raise RuntimeError("no GPU on this machine")
