"""One catalogue for many agents, grants, and agents that call agents."""
